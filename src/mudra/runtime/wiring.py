"""The only file that knows all rooms: what stands behind every port."""

import contextlib
import secrets
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass
from time import monotonic

from litestar.types import ASGIApp

from mudra.console.pages.activation import activation_page
from mudra.console.pages.sandbox_home import ShownMail, sandbox_home
from mudra.console.pages.static_files import static_files
from mudra.http.app import build_app
from mudra.http.service import Service
from mudra.identity.invite import LinkDesk
from mudra.mail.compose import LetterWriter, links_in
from mudra.runtime.clock import ServiceClock
from mudra.runtime.config import Settings
from mudra.runtime.demo_network import DEMO_PASSWORD
from mudra.runtime.rate import KeyedRate
from mudra.runtime.work import Work
from mudra.storage.attempts import PostgresAttempts
from mudra.storage.audit import PostgresJournal
from mudra.storage.credential_cache import CredentialCache
from mudra.storage.database import Database, Transaction
from mudra.storage.freshness import Freshness
from mudra.storage.identity import PostgresLinks, PostgresPeople
from mudra.storage.issue_journal import BatchedIssueJournal
from mudra.storage.node_keys import NodeKeys
from mudra.storage.outbox import PostgresOutbox
from mudra.storage.password_hash import Argon2Passwords
from mudra.storage.seal import Seal
from mudra.storage.signing_keys import PostgresSigningKeys
from mudra.storage.time_machine import PostgresTimeMachine
from mudra.storage.tokens import PostgresIssuedTokens, PostgresSecrets
from mudra.tokens.claims import TokenTerms

ACTIVATION_PATH = "/activate"


@dataclass(frozen=True, slots=True)
class Rooms:
    """The storage of one process, before any edge: what jobs and commands work with."""

    settings: Settings
    clock: ServiceClock
    freshness: Freshness
    database: Database
    seal: Seal
    writer: LetterWriter
    time_machine: PostgresTimeMachine

    @contextlib.asynccontextmanager
    async def open_work(self) -> AsyncIterator[Work]:
        """Open a transaction with all its ports."""
        async with self.database.transaction() as transaction:
            yield self._work(transaction)

    def outbox(self, transaction: Transaction) -> PostgresOutbox:
        """The outbox of a transaction."""
        return PostgresOutbox(
            transaction,
            self.seal,
            self.writer.compose,
            keep_here=self.settings.smtp_url is None,
        )

    def _work(self, transaction: Transaction) -> Work:
        journal = PostgresJournal(transaction)
        people = PostgresPeople(transaction)
        links = PostgresLinks(transaction)
        outbox = self.outbox(transaction)
        return Work(
            journal=journal,
            people=people,
            links=links,
            link_desk=LinkDesk(
                links=links,
                outbox=outbox,
                journal=journal,
                people=people,
                random_bytes=secrets.token_bytes,
                page=self.settings.issuer + ACTIVATION_PATH,
            ),
            attempts=PostgresAttempts(transaction, self.seal),
            outbox=outbox,
            secrets=PostgresSecrets(transaction, self.seal),
            tokens=PostgresIssuedTokens(transaction),
            keys=PostgresSigningKeys(transaction, self.seal),
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
        writer=LetterWriter(settings.network_name),
        time_machine=PostgresTimeMachine(database, freshness, clock),
    )


@dataclass(frozen=True, slots=True)
class Edge:
    """The HTTP edge of one worker process, with what must run beside it."""

    rooms: Rooms
    service: Service
    keys: NodeKeys
    journal: BatchedIssueJournal

    async def start(self) -> None:
        """Connect, listen, load keys; the worker answers afterwards."""
        await self.rooms.freshness.start()
        if self.rooms.settings.sandbox:
            await self.rooms.time_machine.load()
        await self.keys.ready()
        self.journal.start()

    async def stop(self) -> None:
        """Write what is left and disconnect."""
        await self.journal.stop()
        await self.rooms.freshness.stop()
        await self.rooms.database.close()


def open_edge(rooms: Rooms) -> Edge:
    """Put the HTTP edge of a worker together."""
    settings = rooms.settings
    keys = NodeKeys(
        rooms.database, rooms.seal, rooms.freshness, rooms.clock, settings.token_type_header
    )
    journal = BatchedIssueJournal(rooms.database)

    service = Service(
        settings=settings,
        terms=token_terms(settings),
        clock=rooms.clock,
        open_work=rooms.open_work,
        credentials=CredentialCache(rooms.database, rooms.seal, rooms.freshness),
        signer=keys,
        issue_journal=journal,
        entity_rate=KeyedRate(settings.entity_token_rate, settings.entity_token_burst, monotonic),
        secret_mac=rooms.seal.secret_mac,
        hasher=Argon2Passwords(rooms.seal.password_pepper, settings.argon2_memory_mib),
        random_bytes=secrets.token_bytes,
        new_id=lambda: str(uuid.uuid4()),
        database_ready=rooms.database.reachable,
        time_machine=rooms.time_machine if settings.sandbox else None,
    )
    return Edge(rooms, service, keys, journal)


def application(edge: Edge) -> ASGIApp:
    """Build the ASGI application of a worker."""
    rooms = edge.rooms
    prefix = rooms.settings.token_prefix
    pages = [activation_page(prefix), static_files(prefix)]
    if rooms.settings.sandbox:
        pages.append(sandbox_home(lambda: _mailbox(rooms), DEMO_PASSWORD))
    return build_app(edge.service, pages)


async def _mailbox(rooms: Rooms) -> list[ShownMail]:
    async with rooms.database.transaction() as transaction:
        mails = await rooms.outbox(transaction).mails(limit=50)
    return [
        ShownMail(
            to=mail.letter.to,
            subject=mail.letter.subject,
            text=mail.letter.text,
            links=tuple(links_in(mail.letter.text)),
            at=mail.created_at,
        )
        for mail in mails
    ]


def token_terms(settings: Settings) -> TokenTerms:
    """Say what all tokens of this service have in common."""
    return TokenTerms(settings.issuer, settings.token_audience, settings.token_type_header)
