"""The `mudra` program: gives the command line what only the composition root can reach.

Loaded by every command, so it imports each part when it is asked for: the drivers of the
database alone take longer than most commands.
"""

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from mudra.bootstrap.config import ConfigError, Settings, load_settings, shown_settings
from mudra.cli.local.program import CommandFailed, Dependencies, LocalSettings, provide
from mudra.cli.main import app
from mudra.cli.output.output import Exit
from mudra.demo.network import Demo
from mudra.overview.diagnosis import Diagnosis
from mudra.overview.setting_details import SettingDetails

__all__ = ["app", "run"]

T = TypeVar("T")


class _Program:
    """Implements cli/local/program.py Program."""

    def settings(self, overrides: Mapping[str, object]) -> Settings:
        """Read the settings; raises CommandFailed when one is wrong."""
        try:
            return load_settings(os.environ, overrides)
        except ConfigError as error:
            raise CommandFailed(str(error), Exit.USAGE) from error

    def shown_settings(self, overrides: Mapping[str, object]) -> Sequence[SettingDetails]:
        """List the settings in force with their sources; raises CommandFailed."""
        return shown_settings(self.settings(overrides))

    def in_store(self, action: Callable[[Dependencies], Awaitable[T]], data_dir: Path | None) -> T:
        """Open data directory and database for one action; raises CommandFailed."""
        from mudra.bootstrap.local_store import in_store  # noqa: PLC0415  # loads the drivers

        return in_store(self.settings({"data_dir": data_dir}), action)

    def diagnose(self, data_dir: Path | None) -> Sequence[Diagnosis]:
        """Run the checks of `mudra doctor`; raises CommandFailed when a setting is wrong."""
        from mudra.bootstrap.diagnosis import diagnose  # noqa: PLC0415  # loads the drivers

        return diagnose(self.settings({"data_dir": data_dir}))

    def serve(
        self,
        overrides: Mapping[str, object],
        announce: Callable[[LocalSettings], None],
        demo: Demo,
    ) -> int:
        """Run a node until it is stopped; returns the exit code; raises CommandFailed."""
        settings = self.settings(overrides)
        from mudra.bootstrap.local_store import opening  # noqa: PLC0415  # loads the drivers
        from mudra.bootstrap.serve import serve  # noqa: PLC0415

        with opening():
            return serve(settings, announce, demo)


provide(_Program())


def run() -> None:
    """Run the command line."""
    app()
