"""The only file that knows all rooms: what stands behind every port."""

import secrets
from collections.abc import Sequence
from functools import partial
from time import monotonic

from litestar.types import ASGIApp
from msgspec import Struct

from mudra.audit.verification import verify_audit
from mudra.bootstrap.config import Settings
from mudra.bootstrap.dependencies import Rooms
from mudra.bootstrap.rate_limit import KeyedRate
from mudra.console.framework.error_page import lost
from mudra.console.framework.static_files import static_files
from mudra.console.pages.public.activation import activation_page
from mudra.console.pages.public.sandbox_home import sandbox_desk, sandbox_home
from mudra.console.pages.public.status import public_status_pages
from mudra.console.pages.public.status_cache import StatusKeeper
from mudra.console.routes import console_pages
from mudra.demo.network import DEMO_PASSWORD
from mudra.http.app import build_app
from mudra.http.auth.verified_token_cache import ExaminedTokens
from mudra.http.dependencies import Service
from mudra.http.registry.registry_service import FinishedAnswers, RegistryDesk
from mudra.jobs.key_rotation import rotate_keys
from mudra.shared.ids import fresh_id
from mudra.storage.caching.credential_cache import CredentialCache
from mudra.storage.caching.revoked_tokens import RevokedTokens
from mudra.storage.crypto.password_hash import Argon2Passwords
from mudra.storage.mail.outbox import Mail
from mudra.storage.registry.directory_log import PostgresDirectoryLog, PostgresWordbook
from mudra.storage.registry.write_budget import PostgresWriteBudget
from mudra.storage.tokens.issue_journal import BatchedIssueJournal
from mudra.storage.tokens.key_fetches import BatchedKeyFetches
from mudra.storage.tokens.node_keys import NodeKeys
from mudra.tokens.issuing.claims import TokenKind, TokenTerms

_PUSH_RATE_S = 600


class Edge(Struct, frozen=True):
    """The HTTP edge of one worker process, with what must run beside it."""

    rooms: Rooms
    service: Service
    keys: NodeKeys
    journal: BatchedIssueJournal
    key_fetches: BatchedKeyFetches

    async def start(self) -> None:
        """Connect, listen, load keys; the worker answers afterwards."""
        await self.rooms.freshness.start()
        if self.rooms.settings.sandbox:
            await self.rooms.time_machine.load()
        await self.keys.ready()
        self.journal.start()
        self.key_fetches.start()

    async def stop(self) -> None:
        """Write what is left and disconnect."""
        await self.key_fetches.stop()
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
    log = PostgresDirectoryLog(rooms.database, rooms.freshness)
    key_fetches = BatchedKeyFetches(rooms.database, log.current)

    service = Service(
        settings=settings,
        terms=token_terms(settings),
        clock=rooms.clock,
        open_work=rooms.open_work,
        credentials=CredentialCache(rooms.database, rooms.seal, rooms.freshness),
        signer=keys,
        examined=ExaminedTokens(token_terms(settings), keys.find_key, rooms.clock),
        revocations=RevokedTokens(rooms.database, rooms.freshness),
        issue_journal=journal,
        key_fetches=key_fetches,
        rotate_keys=partial(rotate_keys, rooms),
        verify_audit=partial(verify_audit, rooms),
        registry=RegistryDesk(
            registry=rooms.registry,
            log=log,
            words=PostgresWordbook(rooms.database),
            policy=rooms.address_policy,
            finished=FinishedAnswers(
                lambda body: keys.sign_detached(TokenKind.ENTITY, body),
                lambda: keys.signing_kid(TokenKind.ENTITY),
            ),
        ),
        registry_budget=PostgresWriteBudget(rooms.database, settings.registry_writes_per_hour),
        entity_rate=KeyedRate(settings.entity_token_rate, settings.entity_token_burst, monotonic),
        push_rate=KeyedRate(
            settings.metrics_push_rate / _PUSH_RATE_S,
            settings.metrics_push_burst,
            lambda: monotonic() + rooms.clock.offset.total_seconds(),
        ),
        secret_mac=rooms.seal.secret_mac,
        hasher=Argon2Passwords(rooms.seal.password_pepper, settings.argon2_memory_mib),
        random_bytes=secrets.token_bytes,
        new_id=fresh_id,
        database_ready=rooms.database.reachable,
        time_machine=rooms.time_machine if settings.sandbox else None,
        mailbox=partial(_mailbox, rooms) if settings.sandbox else None,
    )
    return Edge(rooms, service, keys, journal, key_fetches)


def application(edge: Edge) -> ASGIApp:
    """Build the ASGI application of a worker."""
    rooms = edge.rooms
    prefix = rooms.settings.token_prefix
    status = public_status_pages(StatusKeeper(rooms.settings.data_dir))
    pages = [activation_page(prefix), static_files(prefix), status]
    if not rooms.settings.sandbox:
        return build_app(edge.service, [*pages, console_pages(edge.service)], lost)

    console = console_pages(edge.service, [sandbox_desk])
    return build_app(edge.service, [*pages, console, sandbox_home(DEMO_PASSWORD)], lost)


async def _mailbox(rooms: Rooms, to: str | None = None, limit: int = 50) -> Sequence[Mail]:
    async with rooms.database.transaction() as transaction:
        return await rooms.outbox(transaction).mails(to, limit)


def token_terms(settings: Settings) -> TokenTerms:
    """Say what all tokens of this service have in common."""
    return TokenTerms(settings.issuer, settings.token_audience, settings.token_type_header)
