"""The options that every command shares, and the settings behind them."""

from pathlib import Path
from typing import Annotated

import typer

from mudra.cli.local.program import program
from mudra.settings.settings import Settings

DataDir = Annotated[
    Path | None,
    typer.Option(help="Data directory; else MUDRA_DATA_DIR, else ./var.", show_default=False),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


def settings_of(data_dir: Path | None = None) -> Settings:
    """Read the settings, or end with an error that names the wrong one."""
    return program().settings({"data_dir": data_dir})
