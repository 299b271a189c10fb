"""The surroundings of the command line; `bootstrap/command_line.py` fills it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

from mudra.cli.output.output import Exit

if TYPE_CHECKING:  # every command imports this file, and most need none of these
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from httpx2 import AsyncClient

    from mudra.audit.chain import Checkpoint
    from mudra.audit.event import Caller
    from mudra.audit.proof.archive_files import ArchiveFiles
    from mudra.cli.local.set_up import Answers, Places, SetUpDone
    from mudra.demo.network import Demo
    from mudra.demo.past import Past
    from mudra.metrics.rollup.stored_metrics import StoredMetrics
    from mudra.overview.administration import Diagnosis, Rewrapped, SettingDetails
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
    from mudra.storage.database.transaction import OpenTransaction

T = TypeVar("T")


class CommandFailed(Exception):
    """The command cannot go on: the text says why and the way out.

    It ends the command, with that text on standard error, wherever it is raised.
    """

    def __init__(self, sentence: str, code: Exit = Exit.FAILED) -> None:
        super().__init__(sentence)
        self.code = code


class Dependencies(Protocol):
    """The parts of an open store that a command works with."""

    @property
    def settings(self) -> Settings:
        """The settings in force."""

    @property
    def clock(self) -> Callable[[], datetime]:
        """The service's clock."""

    @property
    def stored_metrics(self) -> StoredMetrics:
        """The stored metrics: what checks, repairs and exports them."""

    @property
    def transaction(self) -> OpenTransaction:
        """Open a transaction with all its ports."""

    async def rewrap(
        self, caller: Caller, begin: Callable[[int], None], on_progress: Callable[[int], None]
    ) -> Rewrapped:
        """Wrap every encrypted value under the active master key; both are given counts."""

    async def demo_aas(self) -> Sequence[str]:
        """List the AAs of the demonstration network; empty when there is none."""

    async def fill_demo_past(
        self, past: Past, aa_ids: Sequence[str], on_progress: Callable[[], None]
    ) -> int:
        """Fill windows of these AAs that no one reported; returns the number of payloads."""

    def collected_checkpoints(self, file: Path) -> Sequence[Checkpoint]:
        """Read checkpoints out of a collected system log; raises CheckpointForged, OSError."""

    def archive_files(self, folder: Path) -> ArchiveFiles:
        """Give the archives of the audit in a folder."""


class Program(Protocol):
    """The parts of Mudra that only the composition root can reach."""

    def settings(self, overrides: Mapping[str, object]) -> Settings:
        """Read the settings; raises CommandFailed when one is wrong."""

    def shown_settings(self, overrides: Mapping[str, object]) -> Sequence[SettingDetails]:
        """List the settings in force with their sources; raises CommandFailed."""

    def in_store(self, action: Callable[[Dependencies], Awaitable[T]], data_dir: Path | None) -> T:
        """Open data directory and database for one action; raises CommandFailed."""

    def in_api(
        self, action: Callable[[AsyncClient], Awaitable[T]], data_dir: Path | None, owner: str
    ) -> T:
        """Open the API of data directory and database for one action; raises CommandFailed.

        Its caller is `owner`, the owner of this machine, with all rights of an operator.
        """

    def webhook_key(self) -> SecretText:
        """Make a key that signs messages of webhooks."""

    def webhook_headers(self, key: SecretText, message_id: str, body: bytes) -> Mapping[str, str]:
        """Sign a message as the service does now; returns its headers."""

    def diagnose(self, data_dir: Path | None) -> Sequence[Diagnosis]:
        """Run the checks of `mudra doctor`; raises CommandFailed when a setting is wrong."""

    def prepare_database(self, data_dir: Path | None) -> Sequence[str]:
        """Make roles, schema and rights; returns what is left too much; raises CommandFailed."""

    def set_up(self, answers: Answers, places: Places) -> SetUpDone:
        """Set a machine up; raises CommandFailed for an answer that is wrong."""

    def make_backup(
        self, order: BackupOrder, data_dir: Path | None, on_progress: OnProgress
    ) -> BackupMade:
        """Back up the database; raises CommandFailed."""

    def check_backup(self, file: Path, identity: Path, on_progress: OnProgress) -> BackupDetails:
        """Read a backup to its end; raises CommandFailed when anything is wrong with it."""

    def new_backup_key(self) -> tuple[SecretText, str]:
        """Make a private and a public key for backups."""

    def restore(
        self, order: RestoreOrder, caller: Caller, data_dir: Path | None, on_progress: OnProgress
    ) -> RestoreReport:
        """Restore a backup and end what a rollback must end; raises CommandFailed."""

    def after_recovery(self, at: datetime, caller: Caller, data_dir: Path | None) -> RecoveryReport:
        """End what a rollback must end after a recovery; raises CommandFailed."""

    def after_move(self, caller: Caller, data_dir: Path | None, checkpoints: Path | None) -> bool:
        """Record that the database was moved whole, if it was moved; raises CommandFailed."""

    def has_documentation(self) -> bool:
        """Return whether the service shows the documentation: a checkout may not have built it."""

    def serve(
        self,
        overrides: Mapping[str, object],
        announce: Callable[[Settings], None],
        demo: Demo,
    ) -> int:
        """Run a node until it is stopped; returns the exit code; raises CommandFailed."""


_provided: list[Program] = []


def provide(program: Program) -> None:
    """Give the command line its program."""
    _provided[:] = [program]


def program() -> Program:
    """Returns the program that the command line was given."""
    return _provided[0]
