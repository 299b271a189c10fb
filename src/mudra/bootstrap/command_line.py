"""Gives the command line what only the composition root can reach.

Loaded by every command, so it imports each part when it is asked for: the drivers of the
database alone take longer than most commands.
"""

import os
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from mudra.audit.event import Caller
from mudra.bootstrap.config import ConfigError, load_settings, shown_settings
from mudra.cli.local.program import CommandFailed, provide
from mudra.cli.local.set_up import Answers, Places, SetUpDone
from mudra.cli.main import app
from mudra.cli.output.output import Exit
from mudra.demo.network import Demo
from mudra.overview.administration import Diagnosis, SettingDetails
from mudra.overview.backups import (
    BackupMade,
    BackupOrder,
    OnProgress,
    RecoveryReport,
    RestoreOrder,
    RestoreReport,
)
from mudra.settings.settings import Settings
from mudra.shared.backup_details import BackupDetails
from mudra.shared.secret_text import SecretText

if TYPE_CHECKING:
    from httpx2 import AsyncClient

    from mudra.bootstrap.dependencies import Dependencies

__all__ = ["LocalProgram", "app"]

T = TypeVar("T")
PRIVATE: Final = 0o077
"""No file that a service or a command makes can be read by others."""


class LocalProgram:
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

    def in_store(
        self, action: Callable[["Dependencies"], Awaitable[T]], data_dir: Path | None
    ) -> T:
        """Open data directory and database for one action; raises CommandFailed."""
        from mudra.bootstrap.local_store import in_store  # noqa: PLC0415  # loads the drivers

        os.umask(PRIVATE)
        return in_store(self.settings({"data_dir": data_dir}), action)

    def in_api(
        self, action: Callable[["AsyncClient"], Awaitable[T]], data_dir: Path | None, owner: str
    ) -> T:
        """Open the API of a data directory or database for one action; raises CommandFailed."""

        async def within(dependencies: "Dependencies") -> T:
            from mudra.bootstrap.local_api import api_of_owner  # noqa: PLC0415  # loads the API

            async with api_of_owner(dependencies, owner) as client:
                return await action(client)

        return self.in_store(within, data_dir)

    def webhook_key(self) -> SecretText:
        """Make a key that signs messages of webhooks."""
        from mudra.metrics.notifications.webhook import new_signing_key  # noqa: PLC0415  # for this command alone

        return new_signing_key(secrets.token_bytes)

    def webhook_headers(self, key: SecretText, message_id: str, body: bytes) -> Mapping[str, str]:
        """Sign a message as the service does now; returns its headers."""
        from mudra.bootstrap.clock import ServiceClock  # noqa: PLC0415  # for this command alone
        from mudra.webhook.sign import signed_headers  # noqa: PLC0415  # few commands sign

        return signed_headers([key], message_id, ServiceClock.machine(), body)

    def diagnose(self, data_dir: Path | None) -> Sequence[Diagnosis]:
        """Run the checks of `mudra doctor`; raises CommandFailed when a setting is wrong."""
        from mudra.bootstrap.diagnosis.diagnosis import diagnose  # noqa: PLC0415  # loads the drivers

        return diagnose(self.settings({"data_dir": data_dir}))

    def prepare_database(self, data_dir: Path | None) -> Sequence[str]:
        """Make roles, schema and rights of the database; raises CommandFailed."""
        settings = self.settings({"data_dir": data_dir})
        from mudra.bootstrap.local_store import opening  # noqa: PLC0415  # loads the drivers
        from mudra.bootstrap.node.serve import prepare_database  # noqa: PLC0415  # for this command alone

        with opening():
            return prepare_database(settings)

    def set_up(self, answers: Answers, places: Places) -> SetUpDone:
        """Set a machine up; raises CommandFailed for an answer that is wrong."""
        from mudra.bootstrap.set_up.set_up import set_up  # noqa: PLC0415  # loads the drivers

        os.umask(PRIVATE)
        return set_up(answers, places)

    def make_backup(
        self, order: BackupOrder, data_dir: Path | None, on_progress: OnProgress
    ) -> BackupMade:
        """Back up the database; raises CommandFailed."""
        settings = self.settings({"data_dir": data_dir})
        from mudra.bootstrap.backup.backup import make_backup  # noqa: PLC0415  # loads the drivers
        from mudra.bootstrap.local_store import opening  # noqa: PLC0415  # for this command alone

        os.umask(PRIVATE)
        with opening():
            return make_backup(settings, order, on_progress)

    def check_backup(self, file: Path, identity: Path, on_progress: OnProgress) -> BackupDetails:
        """Read a backup to its end; raises CommandFailed when anything is wrong with it."""
        from mudra.bootstrap.backup.restore import check_backup  # noqa: PLC0415  # loads the drivers
        from mudra.bootstrap.local_store import opening  # noqa: PLC0415  # for this command alone

        with opening():
            return check_backup(file, identity, on_progress)

    def new_backup_key(self) -> tuple[SecretText, str]:
        """Make a private and a public key for backups."""
        from mudra.storage.backup.encryption import new_identity  # noqa: PLC0415  # loads the cipher

        return new_identity()

    def restore(
        self, order: RestoreOrder, caller: Caller, data_dir: Path | None, on_progress: OnProgress
    ) -> RestoreReport:
        """Restore a backup and end what a rollback must end; raises CommandFailed."""
        settings = self.settings({"data_dir": data_dir})
        from mudra.bootstrap.backup.restore import restore  # noqa: PLC0415  # loads the drivers
        from mudra.bootstrap.local_store import opening  # noqa: PLC0415  # for this command alone

        os.umask(PRIVATE)
        with opening():
            return restore(settings, order, caller, on_progress)

    def after_recovery(self, at: datetime, caller: Caller, data_dir: Path | None) -> RecoveryReport:
        """End what a rollback must end after a recovery; raises CommandFailed."""
        settings = self.settings({"data_dir": data_dir})
        from mudra.bootstrap.backup.recovery import after_recovery  # noqa: PLC0415  # loads the drivers
        from mudra.bootstrap.local_store import opening  # noqa: PLC0415  # for this command alone

        with opening():
            return after_recovery(settings, at, caller)

    def after_move(self, caller: Caller, data_dir: Path | None, checkpoints: Path | None) -> bool:
        """Record that the database was moved whole; raises CommandFailed."""
        settings = self.settings({"data_dir": data_dir})
        from mudra.bootstrap.backup.move import after_move  # noqa: PLC0415  # loads the drivers
        from mudra.bootstrap.local_store import opening  # noqa: PLC0415  # for this command alone

        with opening():
            return after_move(settings, caller, checkpoints)

    def has_documentation(self) -> bool:
        """Return whether the service shows the documentation."""
        from mudra.console.framework.static_assets import DOCUMENTATION  # noqa: PLC0415  # for this command alone

        return DOCUMENTATION.find("reference/api.html") is not None

    def serve(
        self,
        overrides: Mapping[str, object],
        announce: Callable[[Settings], None],
        demo: Demo,
    ) -> int:
        """Run a node until it is stopped; returns the exit code; raises CommandFailed."""
        settings = self.settings(overrides)
        from mudra.bootstrap.local_store import opening  # noqa: PLC0415  # loads the drivers
        from mudra.bootstrap.node.serve import serve  # noqa: PLC0415  # for this command alone

        os.umask(PRIVATE)
        with opening():
            return serve(settings, announce, demo)


provide(LocalProgram())
