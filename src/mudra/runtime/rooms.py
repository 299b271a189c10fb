"""The storage of one process, before any edge: what commands, jobs and workers begin with."""

import contextlib
import secrets
from collections.abc import AsyncIterator

from msgspec import Struct

from mudra.audit.event import Caller
from mudra.fresh_id import fresh_id
from mudra.identity.accounts import AccountDesk
from mudra.identity.invite import LinkDesk
from mudra.identity.look_after import AdminDesk
from mudra.identity.member_status import MemberDesk
from mudra.identity.notice_desk import NoticeDesk
from mudra.mail.compose import LetterWriter
from mudra.metrics.alarm_desk import AlarmDesk
from mudra.metrics.receive import ReceiveDesk
from mudra.registry.address import AddressPolicy
from mudra.runtime.clock import ServiceClock
from mudra.runtime.config import Settings
from mudra.runtime.work import Work
from mudra.storage.attempts import PostgresAttempts
from mudra.storage.audit import PostgresJournal
from mudra.storage.audit_search import PostgresAuditSearch
from mudra.storage.audit_witness import FileWitness
from mudra.storage.cut import TRANSACTION_S
from mudra.storage.database import Database, Transaction
from mudra.storage.directory import PostgresDirectory
from mudra.storage.freshness import Freshness
from mudra.storage.identity import PostgresLinks, PostgresPeople
from mudra.storage.key_fetches import PostgresKeyFetches
from mudra.storage.mail_desk import PostgresMailDesk
from mudra.storage.metrics import KnownPartitions, PostgresIntake
from mudra.storage.metrics_alarms import PostgresSilences, PostgresWebhooks
from mudra.storage.metrics_figures import PostgresFigures
from mudra.storage.metrics_incidents import PostgresIncidents
from mudra.storage.metrics_receipts import OnboardedMembers, PostgresReceipts
from mudra.storage.metrics_series import PostgresSeries
from mudra.storage.outbox import PostgresOutbox
from mudra.storage.registry import PostgresRegistry
from mudra.storage.registry_waiting import PostgresWaitingEntries
from mudra.storage.reminders import PostgresReminders
from mudra.storage.roster import PostgresRoster
from mudra.storage.seal import Seal
from mudra.storage.secret_use import PostgresSecretUses
from mudra.storage.sessions import PostgresSessions
from mudra.storage.signing_keys import PostgresSigningKeys
from mudra.storage.time_machine import PostgresTimeMachine
from mudra.storage.token_counts import PostgresTokenCounts
from mudra.storage.tokens import PostgresIssuedTokens, PostgresSecrets
from mudra.webhook.reach import Reach

ACTIVATION_PATH = "/activate"
_NO_CONTACT = "the operator of the network"
_PUSH_RATE_S = 600


class Rooms(Struct, frozen=True):
    """The storage of one process, before any edge: what jobs and commands work with."""

    settings: Settings
    clock: ServiceClock
    freshness: Freshness
    database: Database
    seal: Seal
    writer: LetterWriter
    time_machine: PostgresTimeMachine
    partitions: KnownPartitions
    witness: FileWitness

    @contextlib.asynccontextmanager
    async def open_work(self, *, within_s: float = TRANSACTION_S) -> AsyncIterator[Work]:
        """Open a transaction with all its ports; it must end `within_s` seconds."""
        async with self.database.transaction(within_s=within_s) as transaction:
            yield self._work(transaction)

    def registry(self, caller: Caller) -> PostgresRegistry:
        """The registry, changed on behalf of a caller."""
        return PostgresRegistry(self.database, caller)

    @property
    def address_policy(self) -> AddressPolicy:
        """Which addresses an entry may hold: any in the sandbox, public https elsewhere."""
        return AddressPolicy(self.settings.sandbox, self.settings.sandbox)

    @property
    def reach(self) -> Reach:
        """Where messages of webhooks may go: anywhere in the sandbox, public https elsewhere."""
        return Reach(self.address_policy, self.settings.webhook_networks)

    def outbox(self, transaction: Transaction) -> PostgresOutbox:
        """The outbox of a transaction."""
        return PostgresOutbox(
            transaction,
            self.seal,
            self.writer.compose,
            keep_here=self.settings.smtp_url is None,
        )

    def _alarm_desk(
        self, transaction: Transaction, members: OnboardedMembers, journal: PostgresJournal
    ) -> AlarmDesk:
        return AlarmDesk(
            incidents=PostgresIncidents(transaction),
            silences=PostgresSilences(transaction),
            webhooks=PostgresWebhooks(transaction, self.seal),
            members=members,
            journal=journal,
            new_id=fresh_id,
            random_bytes=secrets.token_bytes,
            url_fault=self.reach.url_fault,
        )

    def _work(self, transaction: Transaction) -> Work:
        journal = PostgresJournal(transaction)
        people = PostgresPeople(transaction)
        links = PostgresLinks(transaction)
        outbox = self.outbox(transaction)
        roster = PostgresRoster(transaction)
        tokens = PostgresIssuedTokens(transaction)
        link_desk = LinkDesk(
            links=links,
            outbox=outbox,
            journal=journal,
            people=people,
            random_bytes=secrets.token_bytes,
            page=self.settings.issuer + ACTIVATION_PATH,
        )
        network = OnboardedMembers(transaction)
        alarm_desk = self._alarm_desk(transaction, network, journal)
        return Work(
            journal=journal,
            people=people,
            links=links,
            link_desk=link_desk,
            attempts=PostgresAttempts(transaction, self.seal),
            outbox=outbox,
            roster=roster,
            sessions=PostgresSessions(transaction),
            notices=NoticeDesk(roster, outbox),
            admins=AdminDesk(people, roster, link_desk, journal, fresh_id),
            members=MemberDesk(people, roster, journal),
            accounts=AccountDesk(people, roster, link_desk, tokens, outbox, journal, fresh_id),
            directory=PostgresDirectory(transaction),
            mail_desk=PostgresMailDesk(transaction),
            audit_search=PostgresAuditSearch(transaction),
            secrets=PostgresSecrets(transaction, self.seal),
            uses=PostgresSecretUses(transaction),
            reminders=PostgresReminders(transaction),
            tokens=tokens,
            token_counts=PostgresTokenCounts(transaction),
            keys=PostgresSigningKeys(transaction, self.seal),
            key_fetches=PostgresKeyFetches(transaction),
            waiting_entries=PostgresWaitingEntries(transaction),
            receive_desk=ReceiveDesk(
                PostgresIntake(transaction, self.partitions), network, journal
            ),
            receipts=PostgresReceipts(transaction),
            figures=PostgresFigures(transaction),
            series=PostgresSeries(transaction),
            incidents=alarm_desk.incidents,
            alarm_desk=alarm_desk,
            aas_and_fips=network,
        )


def open_rooms(settings: Settings, conninfo: str, seal: Seal) -> Rooms:
    """Make the storage of this process; nothing is connected yet."""
    clock = ServiceClock()
    freshness = Freshness(conninfo)
    database = Database(conninfo, freshness, lambda: clock.offset)
    return Rooms(
        settings=settings,
        clock=clock,
        freshness=freshness,
        database=database,
        seal=seal,
        writer=LetterWriter(
            settings.network_name, settings.mail_templates, settings.contact or _NO_CONTACT
        ),
        time_machine=PostgresTimeMachine(database, freshness, clock),
        partitions=KnownPartitions(),
        witness=FileWitness(settings.data_dir, seal.checkpoint_key),
    )
