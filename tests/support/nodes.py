"""Two nodes of one network in this process, over a real embedded server, without HTTP.

Their loop runs in a thread of its own, so that they listen while a test thinks.
"""

import asyncio
import contextlib
import secrets
import threading
import uuid
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

import sqlalchemy as sa
from psycopg.conninfo import make_conninfo
from tests.support.database.template_database import prepare
from tests.support.until import PATIENCE_S

from mudra.audit.event import Caller
from mudra.bootstrap.dependencies import Dependencies, build_dependencies
from mudra.bootstrap.node.serve import open_store
from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.user import User, UserState
from mudra.settings.settings import Settings
from mudra.shared.secret_text import SecretText
from mudra.storage.tables.identity import entity
from mudra.tokens.authentication.credentials import Credentials
from mudra.tokens.authentication.secret_check import EntityAuthentication, check_secret
from mudra.tokens.secrets.secret import first_secret, new_secret_text
from mudra.tokens.secrets.secret_service import ResetCommand, SecretDetails, SecretService
from mudra.tokens.secrets.secret_store import Secrets

T = TypeVar("T")
CALLER = Caller("user:test")


class Node:
    """The storage of one node with its memory of credentials."""

    def __init__(self, dependencies: Dependencies) -> None:
        self.dependencies = dependencies
        self.cache = Credentials(dependencies.database, dependencies.invalidation)

    async def onboard(self, entity_id: str) -> str:
        """Make an entity with an admin and its first secret, 180 days long."""
        text, admin = new_secret_text(secrets.token_bytes), admin_of(entity_id)
        async with self.dependencies.database.transaction() as transaction:
            now = await transaction.now()
            await transaction.connection.execute(
                sa.insert(entity).values(
                    entity_id=entity_id, type="FIP", name=entity_id, created_at=now
                )
            )
            people = People(transaction)
            await people.add_user(admin)
            await people.add_admin(entity_id, admin.user_id)
            store = Secrets(transaction)
            await store.keep_first(first_secret(entity_id, now), text)
        return text.reveal()

    async def reset(self, entity_id: str, expiry_days: int = 180, keep_days: int = 0) -> object:
        """Reset as the HTTP edge does."""
        async with self.dependencies.transaction() as tx:
            command = ResetCommand(entity_id, expiry_days, keep_days)
            return await tx.service(SecretService).reset(command, admin_of(entity_id), CALLER)

    async def read(self, entity_id: str) -> SecretDetails:
        """Read as the HTTP edge does."""
        async with self.dependencies.transaction() as tx:
            details = await tx.service(SecretService).read(entity_id, admin_of(entity_id), CALLER)
        assert isinstance(details, SecretDetails)
        return details

    async def retire(self, entity_id: str) -> object:
        """End a grace period early as the HTTP edge does."""
        async with self.dependencies.transaction() as tx:
            return await tx.service(SecretService).retire(entity_id, admin_of(entity_id), CALLER)

    async def check(self, entity_id: str, secret: str) -> EntityAuthentication:
        """Check a secret as the hot path does: from memory where it is valid."""
        known = await self.cache.find(entity_id)
        mac = self.dependencies.encryption.secret_mac(entity_id, SecretText(secret))
        return check_secret(known, mac, self.dependencies.clock())


def admin_of(entity_id: str) -> User:
    """Return the admin whom `Node.onboard` stores for an entity."""
    user_id = uuid.uuid5(uuid.NAMESPACE_OID, entity_id)
    email = f"admin-{user_id.hex}@kaveri.example"
    return User(str(user_id), email, "Asha", UserState.ACTIVE, None, (entity_id,))


@dataclass
class Nodes:
    """Two nodes and the loop that they run in."""

    data_dir: Path
    conninfo: str
    loop: asyncio.AbstractEventLoop
    a: Node
    b: Node

    def do(self, tx: Coroutine[object, object, T]) -> T:
        """Let the loop do something and wait for it."""
        return asyncio.run_coroutine_threadsafe(tx, self.loop).result(PATIENCE_S)

    def set_time(self, offset: timedelta) -> None:
        """Move the clocks of both nodes to so far after the machine's."""
        for node in (self.a, self.b):
            node.dependencies.clock.offset = offset

    @contextlib.contextmanager
    def one_more(self, name: str, **changed: object) -> Iterator[Node]:
        """Start a node with changed settings; `name` distinguishes its connections."""
        of_a = self.a.dependencies
        settings = replace(of_a.settings, **changed)
        conninfo = make_conninfo(self.conninfo, application_name=name)
        node = Node(build_dependencies(settings, conninfo, of_a.encryption))
        self.do(node.dependencies.invalidation.start())
        yield node
        self.do(node.dependencies.invalidation.stop())
        self.do(node.dependencies.database.close())


@contextlib.contextmanager
def two_nodes(data_dir: Path, url: str = "") -> Iterator[Nodes]:
    """Start an embedded server, unless `url` leads to one, and two nodes on it."""
    if not url:
        prepare(data_dir)
    own = SecretText(url) if url else None
    settings = Settings(data_dir=data_dir, sandbox=True, database_url=own)
    with open_store(settings, create=True) as (conninfo, encryption):
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever)
        thread.start()
        nodes = Nodes(
            data_dir,
            conninfo,
            loop,
            *(Node(build_dependencies(settings, conninfo, encryption)) for _ in range(2)),
        )
        try:
            for node in (nodes.a, nodes.b):
                nodes.do(node.dependencies.invalidation.start())
            yield nodes
        finally:
            for node in (nodes.a, nodes.b):
                nodes.do(node.dependencies.invalidation.stop())
                nodes.do(node.dependencies.database.close())
            loop.call_soon_threadsafe(loop.stop)
            thread.join(PATIENCE_S)
            loop.close()
