"""One email is sent once by all nodes together, unless its sender dies on the way."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
import sqlalchemy as sa
from tests.support.service import Service, in_own_store

from mudra.audit.ports import AuditLog
from mudra.bootstrap.dependencies import Dependencies
from mudra.identity.ports import Notice, NoticeKind
from mudra.jobs.retry_delay import pause_after
from mudra.overview.mail_delivery import Delivered, Undelivered, deliver_due
from mudra.overview.mail_queue import StoredEmail
from mudra.shared.ids import fresh_id
from mudra.storage.audit.audit_log import PostgresAuditLog
from mudra.storage.database.tables import mail_outbox
from mudra.storage.mail.outbox import PostgresOutbox


@dataclass
class Nodes:
    """Nodes that send the same emails to a mail server that takes its time."""

    dependencies: Dependencies
    sent: list[str] = field(default_factory=list)
    may_answer: asyncio.Event = field(default_factory=asyncio.Event)

    @contextlib.asynccontextmanager
    async def outbox(self) -> AsyncIterator[tuple[PostgresOutbox, AuditLog]]:
        async with self.dependencies.database.transaction() as transaction:
            compose = self.dependencies.writer.compose
            encryption = self.dependencies.encryption
            yield (
                PostgresOutbox(transaction, encryption, compose, keep_here=False),
                PostgresAuditLog(transaction),
            )

    async def queue(self, number: int) -> None:
        facts = {
            "title": "FIP A: calls failing",
            "story": "Since noon.",
            "entity_id": "A",
            "over": "",
            "severity": "major",
            "link": "https://mudra.example/console",
        }
        async with self.outbox() as (outbox, _):
            for _ in range(number):
                to = f"{fresh_id()}@sink.example"
                await outbox.post(Notice(to, NoticeKind.HEALTH_ALARM, facts))

    async def node(self) -> None:
        async def send(mail: StoredEmail) -> Delivered | Undelivered:
            self.sent.append(mail.mail_id)
            await self.may_answer.wait()
            return Delivered()

        await deliver_due(self.outbox, send, pause_after, lambda *_: None)

    async def until(self, number: int) -> None:
        async with asyncio.timeout(30):
            while len(self.sent) < number:  # noqa: ASYNC110  # nothing signals it
                await asyncio.sleep(0.01)

    async def other_node(self) -> asyncio.Task[None]:
        """Start another node; it ends at once when there is nothing to take."""
        other = asyncio.create_task(self.node())
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(other), 3)
        return other

    async def expire_claims(self) -> None:
        async with self.dependencies.database.transaction() as transaction:
            taken = mail_outbox.c.taken_until
            await transaction.connection.execute(
                sa.update(mail_outbox).values(taken_until=taken - timedelta(minutes=3))
            )


def twice(sent: list[str]) -> list[str]:
    return [mail_id for mail_id, times in Counter(sent).items() if times > 1]


def test_a_clock_that_is_moved_while_an_email_is_on_its_way_sends_no_second(
    service: Service,
) -> None:
    async def race(dependencies: Dependencies) -> list[str]:
        nodes = Nodes(dependencies)
        await nodes.queue(3)
        first = asyncio.create_task(nodes.node())
        await nodes.until(1)
        dependencies.clock.offset += timedelta(hours=1)
        second = await nodes.other_node()
        nodes.may_answer.set()
        await asyncio.gather(first, second)
        return nodes.sent

    sent = in_own_store(service, race)
    assert (len(sent), twice(sent)) == (3, [])


@pytest.mark.parametrize("died", [True, False])
def test_what_a_node_took_is_sent_by_another_only_when_its_claim_is_over(
    service: Service, died: bool
) -> None:
    """A slow mail server holds up an email until its claim is over: only one node sends it."""

    async def race(dependencies: Dependencies) -> list[str]:
        nodes = Nodes(dependencies)
        await nodes.queue(2)
        first = asyncio.create_task(nodes.node())
        await nodes.until(1)
        if died:
            first.cancel()
            await asyncio.gather(first, return_exceptions=True)
        await nodes.expire_claims()
        nodes.may_answer.set()
        await asyncio.gather(first, await nodes.other_node(), return_exceptions=True)
        return nodes.sent

    sent = in_own_store(service, race)
    # The one that was on its way may come twice; the one behind it never does.
    assert len(set(sent)) == 2
    assert len(twice(sent)) <= 1
    assert sent[0] in twice(sent) or not twice(sent)
