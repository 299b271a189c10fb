"""The option --checkpoints: a collected system log, besides the second place of the audit."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from mudra.audit.chain import Checkpoint, CheckpointForged
from mudra.cli.local.program import CommandFailed, Dependencies

CollectedLog = Annotated[
    Path | None,
    typer.Option(help="A collected system log with checkpoints, besides the second place."),
]


def collected(dependencies: Dependencies, file: Path | None) -> Sequence[Checkpoint]:
    """Read its checkpoints, none without a file; raises CommandFailed."""
    try:
        return dependencies.collected_checkpoints(file) if file else ()
    except (CheckpointForged, OSError) as error:
        raise CommandFailed(f"{file}: {error}") from error
