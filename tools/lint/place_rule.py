"""Nothing in the project knows on which machine it was written."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from tools.lint.source import Fault, Source

# Where people keep their work: the first folder of an absolute path.
PERSONAL = ("root", "home", "Users", "work", "workspace", "workspaces")
ABSOLUTE = re.compile(rf"(?<![\w.~/*-])/(?:{'|'.join(PERSONAL)})/[\w.@-]")


def no_foreign_place(here: Path, home: Path) -> Callable[[Source], Iterator[Fault]]:
    """A rule that refuses absolute personal paths, and this checkout's own ones."""
    own = [str(path) for path in (here, home) if len(path.parts) > 2]  # noqa: PLR2004 -- "/" and "/app" are anybody's

    def rule(source: Source) -> Iterator[Fault]:
        for number, line in enumerate(source.text.splitlines(), 1):
            if ABSOLUTE.search(line) or any(place in line for place in own):
                yield Fault(source.path, number, "an absolute path of somebody's machine")

    return rule
