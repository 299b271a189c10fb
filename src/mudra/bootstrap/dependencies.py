"""The storage of one process, before any edge: what commands, jobs and workers begin with."""

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from msgspec import Struct, field

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.chain import Checkpoint
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.audit.ports import Witness
from mudra.audit.proof.archive_files import ArchiveFiles
from mudra.audit.proof.witness import open_witness, read_collected
from mudra.bootstrap.clock import ServiceClock
from mudra.bootstrap.health_store import shared_health
from mudra.bootstrap.metrics_store import history, maintenance
from mudra.bootstrap.separate_process.report_print import ReportPrinter
from mudra.bootstrap.separate_process.submission_check import (
    SubmissionChecker,
    check_here,
    nothing_to_prepare,
)
from mudra.bootstrap.use_cases import add_use_cases
from mudra.demo.time_machine import PostgresTimeMachine
from mudra.levels.printing.pdf import PrintPdf
from mudra.localization.languages import Languages
from mudra.mail.compose import EmailComposer
from mudra.metrics.health.recorded_history import HistoryService
from mudra.metrics.maintenance import MaintenanceWork
from mudra.overview.administration import Rewrapped
from mudra.registry.payload.fields.url_rules import AddressPolicy
from mudra.registry.ports import CheckSubmission
from mudra.settings.settings import Settings
from mudra.shared.waiting.made_once import MadeOnce
from mudra.storage.caching.cache_invalidation import (
    IDLE_PROOF_S,
    SANDBOX_PROOF_S,
    CacheInvalidation,
)
from mudra.storage.crypto.data_encryption import DataEncryption
from mudra.storage.crypto.keyring import Keyring
from mudra.storage.crypto.sealed_values import COLUMNS, count_values, rewrap
from mudra.storage.database.clock_watch import ClockWatch
from mudra.storage.database.database import MAX_CONNECTIONS, Database
from mudra.storage.database.deadline import TRANSACTION_S
from mudra.storage.database.primary import of_primary
from mudra.storage.database.replica import ReplicaReads
from mudra.storage.database.transaction import Process, Transaction, UseCases
from mudra.storage.metrics.reports import KnownPartitions
from mudra.webhook.reach import HTTPS_PORT, Reach

if TYPE_CHECKING:
    from mudra.demo.past import Past
    from mudra.metrics.rollup.stored_metrics import StoredMetrics


def email_composer(settings: Settings, languages: Languages) -> EmailComposer:
    """Return it; its emails name the network and link to its console."""
    return EmailComposer(
        settings.network_name,
        settings.mail_templates,
        settings.contact,
        languages,
        console_address(settings),
        settings.time_zone,
    )


STATUS_PATH = "/status"


class Dependencies(Struct, frozen=True):
    """The storage of one process, before any edge: what jobs and commands work with."""

    settings: Settings
    clock: ServiceClock
    clock_watch: ClockWatch
    invalidation: CacheInvalidation
    database: Database
    replica: ReplicaReads
    encryption: DataEncryption
    languages: Languages
    writer: EmailComposer
    time_machine: PostgresTimeMachine
    partitions: KnownPartitions
    witness: Witness
    health_values: MadeOnce
    check_submission: CheckSubmission
    prepare_check: Callable[[str], Awaitable[None]]
    print_pdf: PrintPdf = field(default_factory=lambda: ReportPrinter().print)

    def transaction(
        self, *, within_s: float = TRANSACTION_S
    ) -> AbstractAsyncContextManager[Transaction]:
        """Opens a transaction; it must end within `within_s` seconds."""
        return self.database.transaction(within_s=within_s)

    def reads(self, *, within_s: float = TRANSACTION_S) -> AbstractAsyncContextManager[Transaction]:
        """Opens one for reads alone, which a replica may serve."""
        return self.replica.transaction(within_s=within_s)

    async def rewrap(
        self, caller: Caller, begin: Callable[[int], None], on_progress: Callable[[int], None]
    ) -> Rewrapped:
        """Wrap every encrypted value under the active master key; both are given counts."""
        return await rewrap_all(self.database, self.encryption.keyring, caller, begin, on_progress)

    async def demo_aas(self) -> Sequence[str]:
        """List the AAs of the demonstration network; empty when there is none."""
        from mudra.demo.history import demo_aas  # noqa: PLC0415  # the sandbox's alone

        return await demo_aas(self)

    async def fill_demo_past(
        self, past: "Past", aa_ids: Sequence[str], on_progress: Callable[[], None]
    ) -> int:
        """Fill windows of these AAs that no one reported; returns the number of payloads."""
        from mudra.demo.history import fill_history  # noqa: PLC0415  # the sandbox's alone

        return await fill_history(self, past, aa_ids, on_progress)

    @property
    def stored_metrics(self) -> "StoredMetrics":
        """The stored metrics, for commands."""
        from mudra.bootstrap.stored_metrics import PostgresStoredMetrics  # noqa: PLC0415  # loads numpy

        return PostgresStoredMetrics(self.database)

    @contextlib.asynccontextmanager
    async def history(self, *, within_s: float = TRANSACTION_S) -> AsyncIterator[HistoryService]:
        """Open a transaction for windows of the past."""
        async with self.database.transaction(within_s=within_s) as transaction:
            yield await history(transaction, self.partitions, within_s)

    @property
    def has_replica(self) -> bool:
        """Return whether reads may be served by a replica."""
        return self.replica.is_apart

    async def close(self) -> None:
        """Close all connections except `invalidation`'s."""
        await self.replica.close()
        await self.database.close()

    def collected_checkpoints(self, file: Path) -> Sequence[Checkpoint]:
        """Read checkpoints out of a collected system log; raises CheckpointForged, OSError."""
        with file.open("rb") as lines:
            return read_collected(lines, self.encryption)

    def archive_files(self, folder: Path) -> ArchiveFiles:
        """Give the archives of the audit in a folder."""
        return ArchiveFiles(folder, self.encryption)

    @property
    def address_policy(self) -> AddressPolicy:
        """Return which addresses an entry may hold: any in the sandbox, public https elsewhere."""
        return AddressPolicy(self.settings.sandbox, self.settings.sandbox)

    @property
    def reach(self) -> Reach:
        """Return where webhook messages may go: anywhere in the sandbox, public https elsewhere."""
        opened = frozenset({HTTPS_PORT, *self.settings.webhook_ports})
        ports = None if self.settings.sandbox else opened
        return Reach(self.address_policy, self.settings.webhook_networks, ports)

    @property
    def probe_reach(self) -> Reach:
        """Return where probes may go: any port, since an operator looks at the base URL first."""
        return Reach(self.address_policy, self.settings.webhook_networks)

    @property
    def public_reach(self) -> Reach:
        """Return where messages of public subscriptions may go: no network that is opened here."""
        ports = None if self.settings.sandbox else frozenset({HTTPS_PORT})
        return Reach(self.address_policy, ports=ports)

    @property
    def public_status(self) -> str:
        """Return the address of the public status: next to the token service."""
        return urljoin(self.settings.issuer, STATUS_PATH)

    @property
    def console(self) -> str:
        """Return the address of the console."""
        return console_address(self.settings)

    @contextlib.asynccontextmanager
    async def metrics_maintenance(
        self, *, within_s: float = TRANSACTION_S
    ) -> AsyncIterator[MaintenanceWork]:
        """Open a transaction for the scheduled jobs of metrics."""
        async with self.database.transaction(within_s=within_s) as transaction:
            yield await maintenance(self, transaction)


def build_dependencies(
    settings: Settings,
    conninfo: str,
    encryption: DataEncryption,
    *,
    connections: int = MAX_CONNECTIONS,
    checker: SubmissionChecker | None = None,
) -> Dependencies:
    """Make the storage of this process; nothing is connected yet.

    Without a `checker` submissions are checked in this process: for one that keeps no one waiting.
    """
    clock = ServiceClock()
    clock_watch = ClockWatch(clock.machine)
    languages = Languages(settings.locales_dir, settings.language)
    own, replica = settings.database_direct_url, settings.database_replica_url
    direct = of_primary(own.reveal()) if own else conninfo
    invalidation = CacheInvalidation(
        direct,
        clock_watch,
        idle_proof_s=SANDBOX_PROOF_S if settings.sandbox else IDLE_PROOF_S,
        without_database_s=settings.tokens_without_database_s,
    )
    use_cases = UseCases()
    database = Database(
        conninfo,
        invalidation,
        lambda: clock.offset,
        connections=connections,
        direct=direct if own else None,
        process=Process(encryption, use_cases),
    )
    parts = Dependencies(
        settings=settings,
        clock=clock,
        clock_watch=clock_watch,
        invalidation=invalidation,
        database=database,
        replica=ReplicaReads(
            database,
            database.replica(replica.reveal(), connections) if replica else None,
            settings.database_replica_lag_ms / 1000,
        ),
        encryption=encryption,
        languages=languages,
        writer=email_composer(settings, languages),
        time_machine=PostgresTimeMachine(database, invalidation, clock),
        partitions=KnownPartitions(),
        witness=open_witness(settings.audit_checkpoints, settings.data_dir, encryption),
        health_values=shared_health(),
        check_submission=checker.check if checker else check_here,
        prepare_check=checker.prepare if checker else nothing_to_prepare,
    )
    add_use_cases(parts, use_cases)
    return parts


def console_address(settings: Settings) -> str:
    """Return it: next to the token service, not under its path."""
    return urljoin(settings.issuer, "/console")


async def rewrap_all(
    database: Database,
    keyring: Keyring,
    caller: Caller,
    begin: Callable[[int], None],
    on_progress: Callable[[int], None],
) -> Rewrapped:
    """Wrap what is under another version, until nothing is; recorded when anything was done.

    `begin` is given how many values there are, `on_progress` how many more were seen. What a node
    that still has the previous key active writes meanwhile is done in a further pass.
    """
    done = 0
    async with database.transaction() as transaction:
        begin(await count_values(transaction))
    while changed := await _one_pass(database, keyring, on_progress):
        done += changed
        on_progress = _nothing
    if done:
        async with database.transaction() as transaction:
            await AuditLog(transaction).append(
                AuditEntry(
                    EventName.KEYS_MASTER_ROTATE,
                    caller,
                    detail={"version": keyring.active, "count": done},
                )
            )
    return Rewrapped(keyring.active, done)


async def _one_pass(
    database: Database, keyring: Keyring, on_progress: Callable[[int], None]
) -> int:
    return sum(
        [await rewrap(database.transaction, keyring, sealed, on_progress) for sealed in COLUMNS]
    )


def _nothing(_: int) -> None:
    """The first pass has shown all of the progress."""
