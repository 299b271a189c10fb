"""What every command may ask for: the settings, without the service's code behind them."""

import os
from pathlib import Path
from typing import Annotated

import typer

from mudra.bootstrap.config import ConfigError, Settings, load_settings
from mudra.cli.output.output import Exit, fail

DataDir = Annotated[
    Path | None,
    typer.Option(help="Data directory; else MUDRA_DATA_DIR, else ./var.", show_default=False),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


def settings_of(data_dir: Path | None = None) -> Settings:
    """Read the settings, or end with the sentence that says what is wrong."""
    try:
        return load_settings(os.environ, {"data_dir": data_dir})
    except ConfigError as error:
        fail(str(error), Exit.USAGE)
