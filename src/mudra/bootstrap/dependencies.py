"""The storage of one process, before any edge: what commands, jobs and workers begin with."""

import contextlib
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from msgspec import Struct

from mudra.audit.chain import Checkpoint
from mudra.audit.event import Caller
from mudra.audit.ports import AuditChain, Witness
from mudra.bootstrap import alarm_wiring
from mudra.bootstrap.clock import ServiceClock
from mudra.bootstrap.console_address import console_address
from mudra.bootstrap.email_composer import email_composer
from mudra.bootstrap.health_store import announcement_service, health_service, shared_health
from mudra.bootstrap.master_key_rotation import rewrap_all
from mudra.bootstrap.metrics_store import history, maintenance, reporting
from mudra.bootstrap.separate_process.submission_check import check_here, nothing_to_prepare
from mudra.bootstrap.token_store import binding_service, secret_service
from mudra.identity.accounts.email_link import LinkFactory
from mudra.identity.memberships.notices import NoticeService
from mudra.localization.languages import Languages
from mudra.mail.compose import EmailComposer
from mudra.metrics.health.recorded_history import HistoryService
from mudra.metrics.incidents.acts.act_service import IncidentActService
from mudra.metrics.incidents.incident_service import IncidentService
from mudra.metrics.maintenance import MaintenanceWork
from mudra.metrics.subscriptions.status_webhooks import StatusWebhooks
from mudra.overview.administration import Rewrapped
from mudra.registry.lifecycle.registration import RegistrationService
from mudra.registry.payload.fields.url_rules import AddressPolicy
from mudra.registry.ports import CheckSubmission
from mudra.registry.probe.probe_service import ProbeService
from mudra.settings.settings import Settings
from mudra.shared.made_once import MadeOnce
from mudra.storage.audit.archive_files import Folder
from mudra.storage.audit.archives import PostgresArchives
from mudra.storage.audit.audit_log import PostgresAuditLog
from mudra.storage.audit.chain import PostgresLedger
from mudra.storage.audit.checkpoints import PostgresCheckpoints
from mudra.storage.audit.search import PostgresAuditSearch
from mudra.storage.audit.token_issues import PostgresTokenIssues
from mudra.storage.audit.witness import open_witness, read_collected
from mudra.storage.caching.cache_invalidation import (
    IDLE_PROOF_S,
    SANDBOX_PROOF_S,
    CacheInvalidation,
)
from mudra.storage.crypto.data_encryption import DataEncryption
from mudra.storage.crypto.key_pairs import KeyPairs
from mudra.storage.database.clock_watch import ClockWatch
from mudra.storage.database.database import MAX_CONNECTIONS, Database, Transaction
from mudra.storage.database.primary import of_primary
from mudra.storage.database.replica import ReplicaReads
from mudra.storage.database.time_machine import PostgresTimeMachine
from mudra.storage.identity.address_changes import PostgresAddressChanges
from mudra.storage.identity.attempts import PostgresAttempts
from mudra.storage.identity.invitations import PostgresInvitations
from mudra.storage.identity.link_requests import PostgresLinkRequests
from mudra.storage.identity.member_search import PostgresMemberSearch
from mudra.storage.identity.memberships import PostgresMemberships
from mudra.storage.identity.milestones import PostgresMilestones
from mudra.storage.identity.people import PostgresLinks, PostgresPeople
from mudra.storage.identity.second_factors import PostgresSecondFactors
from mudra.storage.identity.sessions import PostgresSessions
from mudra.storage.identity.single_sign_on import PostgresSingleSignOn
from mudra.storage.mail.mail_queue import PostgresMailQueue
from mudra.storage.mail.outbox import PostgresOutbox
from mudra.storage.metrics.incident_acts import PostgresIncidentActs
from mudra.storage.metrics.incidents import PostgresIncidents
from mudra.storage.metrics.receipts import OnboardedMembers
from mudra.storage.metrics.reports import KnownPartitions
from mudra.storage.metrics.subscriptions import PostgresSubscriptions
from mudra.storage.registry.pending_entries import PostgresPendingEntries
from mudra.storage.registry.probes import PostgresProbes
from mudra.storage.registry.registry import PostgresRegistry
from mudra.storage.registry.vocabulary import PostgresVocabulary
from mudra.storage.registry.write_budget import PostgresWriteBudget
from mudra.storage.tokens.key_fetches import PostgresKeyFetches
from mudra.storage.tokens.registered_keys import PostgresRegisteredKeys
from mudra.storage.tokens.reminders import PostgresReminders
from mudra.storage.tokens.secret_use import PostgresSecretUses
from mudra.storage.tokens.signing_keys import PostgresSigningKeys
from mudra.storage.tokens.token_counts import PostgresTokenCounts
from mudra.storage.tokens.tokens import PostgresIssuedTokens, PostgresSecrets
from mudra.storage.tokens.used_proofs import PostgresUsedProofs
from mudra.tokens.secrets.first_secret import FirstSecretService
from mudra.tokens.signing_keys.signing_key_service import SigningKeyService
from mudra.unit_of_work import TRANSACTION_S, UnitOfWork
from mudra.webhook.reach import HTTPS_PORT, Reach

if TYPE_CHECKING:
    from mudra.demo.past import Past
    from mudra.metrics.rollup.stored_metrics import StoredMetrics

ACTIVATION_PATH = "/activate"
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
    check_submission: CheckSubmission = check_here
    prepare_check: Callable[[str], Awaitable[None]] = nothing_to_prepare

    @contextlib.asynccontextmanager
    async def unit_of_work(self, *, within_s: float = TRANSACTION_S) -> AsyncIterator[UnitOfWork]:
        """Open a transaction with all its ports; it must end `within_s` seconds."""
        async with self.database.transaction(within_s=within_s) as transaction:
            yield self._work(transaction)

    @contextlib.asynccontextmanager
    async def reads(self, *, within_s: float = TRANSACTION_S) -> AsyncIterator[UnitOfWork]:
        """Open one for reads alone, which a replica may serve."""
        async with self.replica.transaction(within_s=within_s) as transaction:
            yield self._work(transaction)

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
        """Close all connections but those of `invalidation`."""
        await self.replica.close()
        await self.database.close()

    def audit_chain(self, transaction: Transaction) -> AuditChain:
        """The audit chain in a transaction, with this node's second place."""
        return AuditChain(
            PostgresLedger(transaction, self.encryption),
            PostgresCheckpoints(transaction, self.encryption),
            self.witness,
            PostgresTokenIssues(transaction, self.encryption),
            PostgresArchives(transaction, self.encryption),
            clock_is_moved=self.settings.sandbox,
        )

    def collected_checkpoints(self, file: Path) -> Sequence[Checkpoint]:
        """Read checkpoints out of a collected system log; raises CheckpointForged, OSError."""
        with file.open("rb") as lines:
            return read_collected(lines, self.encryption)

    def archive_files(self, folder: Path) -> Folder:
        """Give the archives of the audit in a folder."""
        return Folder(folder, self.encryption)

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

    def outbox(self, transaction: Transaction) -> PostgresOutbox:
        """The outbox of a transaction."""
        return PostgresOutbox(
            transaction,
            self.encryption,
            self.writer.compose,
            keep_here=self.settings.smtp_url is None,
        )

    @contextlib.asynccontextmanager
    async def metrics_maintenance(self, *, within_s: float) -> AsyncIterator[MaintenanceWork]:
        """Open a transaction for the scheduled jobs of metrics."""
        async with self.database.transaction(within_s=within_s) as transaction:
            yield await maintenance(self, transaction)

    def _notices(self, transaction: Transaction) -> NoticeService:
        return NoticeService(PostgresMemberships(transaction), self.outbox(transaction))

    def _work(self, transaction: Transaction) -> UnitOfWork:
        if not self.settings.sandbox:
            return self._ports(transaction)
        from mudra.demo.faults.sandbox_work import sandbox_work  # noqa: PLC0415  # the sandbox's alone

        new_key = self._key_pairs.new
        return sandbox_work(self._ports(transaction), transaction, self.encryption, new_key)

    def _ports(self, transaction: Transaction) -> UnitOfWork:
        audit_log, outbox = PostgresAuditLog(transaction), self.outbox(transaction)
        notices, secret_uses = self._notices(transaction), PostgresSecretUses(transaction)
        registration = self._registration(transaction, notices)
        secret_store = PostgresSecrets(transaction, self.encryption)
        network, incidents = OnboardedMembers(transaction), PostgresIncidents(transaction)
        pushes, held_reports, receipts = reporting(self, transaction, network, notices)
        return UnitOfWork(
            audit_log=audit_log,
            people=PostgresPeople(transaction),
            links=PostgresLinks(transaction),
            link_factory=LinkFactory(secrets.token_bytes, self.settings.issuer + ACTIVATION_PATH),
            address_changes=PostgresAddressChanges(transaction),
            invitations=PostgresInvitations(transaction),
            link_requests=PostgresLinkRequests(transaction, self.encryption),
            attempts=PostgresAttempts(transaction, self.encryption),
            second_factors=PostgresSecondFactors(transaction, self.encryption),
            outbox=outbox,
            memberships=PostgresMemberships(transaction),
            sessions=PostgresSessions(transaction),
            single_sign_on=PostgresSingleSignOn(transaction),
            notices=notices,
            member_search=PostgresMemberSearch(transaction),
            milestones=PostgresMilestones(transaction),
            mail_queue=PostgresMailQueue(transaction),
            mailbox=outbox,
            audit_search=PostgresAuditSearch(transaction),
            audit_chain=self.audit_chain(transaction),
            secrets=secret_store,
            first_secret=FirstSecretService(secret_store, audit_log, secrets.token_bytes),
            secret_service=secret_service(transaction, secret_store, notices, audit_log),
            uses=secret_uses,
            reminders=PostgresReminders(transaction),
            tokens=PostgresIssuedTokens(transaction),
            used_proofs=PostgresUsedProofs(transaction),
            token_counts=PostgresTokenCounts(transaction),
            registered_keys=PostgresRegisteredKeys(transaction),
            address_bindings=binding_service(transaction, notices, audit_log, self.settings),
            registry=registration.registry,
            vocabulary=registration.vocabulary,
            registration=registration,
            signing_keys=self.signing_keys(transaction, audit_log),
            pending_entries=PostgresPendingEntries(transaction),
            probes=ProbeService(PostgresProbes(transaction), registration.registry, audit_log),
            pushes=pushes,
            held_reports=held_reports,
            receipts=receipts,
            health=health_service(transaction, network, incidents, self.health_values),
            incidents=IncidentService(incidents),
            incident_acts=IncidentActService(PostgresIncidentActs(transaction), audit_log),
            silences=alarm_wiring.silence_service(transaction, network, audit_log),
            announcements=announcement_service(transaction, network, audit_log),
            webhooks=alarm_wiring.webhook_service(self, transaction, network, audit_log),
            alarm_preferences=alarm_wiring.preference_service(self, transaction, audit_log),
            follows=alarm_wiring.follow_service(transaction, network, audit_log),
            subscriptions=PostgresSubscriptions(transaction, self.encryption),
            status_webhooks=self._status_webhooks(transaction),
        )

    def _status_webhooks(self, transaction: Transaction) -> StatusWebhooks:
        subscriptions = PostgresSubscriptions(transaction, self.encryption)
        return StatusWebhooks(subscriptions, secrets.token_bytes, self.public_reach.url_fault)

    def _registration(
        self, transaction: Transaction, notices: NoticeService
    ) -> RegistrationService:
        return RegistrationService(
            PostgresRegistry(
                transaction, one_operator=self.settings.one_operator_decides, notices=notices
            ),
            PostgresVocabulary(transaction),
            PostgresWriteBudget(transaction, self.settings.registry_writes_per_hour),
            self.address_policy,
            self.check_submission,
        )

    @property
    def _key_pairs(self) -> KeyPairs:
        return KeyPairs(self.settings.signing_key_bits, self.clock)

    def signing_keys(
        self, transaction: Transaction, audit_log: PostgresAuditLog
    ) -> SigningKeyService:
        """Return the signing keys as one transaction sees them."""
        return SigningKeyService(
            PostgresSigningKeys(transaction, self.encryption),
            PostgresKeyFetches(transaction),
            audit_log,
            self._key_pairs.new,
            timedelta(days=self.settings.key_rotation_days),
        )


def build_dependencies(
    settings: Settings,
    conninfo: str,
    encryption: DataEncryption,
    *,
    connections: int = MAX_CONNECTIONS,
) -> Dependencies:
    """Make the storage of this process; nothing is connected yet."""
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
    database = Database(
        conninfo,
        invalidation,
        lambda: clock.offset,
        connections=connections,
        direct=direct if own else None,
    )
    return Dependencies(
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
    )
