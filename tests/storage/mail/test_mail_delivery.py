"""One email is sent once by all nodes together, unless its sender dies on the way."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
import sqlalchemy as sa
from tests.support.service import Service
from tests.support.until import PATIENCE_S

from mudra.audit.audit_log_store import AuditLog
from mudra.bootstrap.dependencies import Dependencies
from mudra.jobs.notification_jobs import raise_mail_alarms
from mudra.jobs.retry_delay import pause_after
from mudra.overview.mail_delivery import Delivered, Undelivered, deliver_due
from mudra.shared.ids import fresh_id
from mudra.shared.mail.email_message import StoredEmail
from mudra.shared.mail.notice import Notice, NoticeKind
from mudra.storage.mail.outbox import Outbox
from mudra.storage.tables.service import mail_outbox


@dataclass
class Nodes:
    """Nodes that send the same emails to a mail server that takes its time."""

    dependencies: Dependencies
    sent: list[str] = field(default_factory=list)
    may_answer: asyncio.Event = field(default_factory=asyncio.Event)

    @contextlib.asynccontextmanager
    async def outbox(self) -> AsyncIterator[tuple[Outbox, AuditLog]]:
        async with self.dependencies.database.transaction() as transaction:
            compose = self.dependencies.writer.compose
            yield (
                Outbox(transaction, compose, keep_here=False),
                AuditLog(transaction),
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

        await deliver_due(self.dependencies.transaction, send, pause_after, lambda *_: None, set())

    async def until(self, number: int) -> None:
        async with asyncio.timeout(PATIENCE_S):
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

    async def give_all_for_sent(self) -> None:
        """Leave no email of another test that waits or was refused."""
        async with self.dependencies.database.transaction() as transaction:
            unsent = sa.update(mail_outbox).where(mail_outbox.c.sent_at.is_(None))
            await transaction.connection.execute(
                unsent.values(sent_at=sa.func.clock_timestamp(), next_attempt_at=None)
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

    sent = service.in_own_store(race)
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

    sent = service.in_own_store(race)
    # The one that was on its way may come twice; the one behind it never does.
    assert len(set(sent)) == 2
    assert len(twice(sent)) <= 1
    assert sent[0] in twice(sent) or not twice(sent)


@pytest.mark.parametrize(
    ("answer", "days", "failing"),
    [
        (Undelivered(again=True, problem="try later"), 0.9, 0),
        (Undelivered(again=True, problem="try later"), 1.1, 1),
        (Undelivered(again=True, problem="try later"), 80, 1),
        (Undelivered(again=False, problem="no such user"), 0, 1),
        (Undelivered(again=False, problem="no such user"), 1.9, 1),
        (Undelivered(again=False, problem="no such user"), 2.1, 0),
    ],
)
def test_a_refused_email_is_an_alarm_for_two_days_and_one_that_waits_as_long_as_it_does(
    service: Service, answer: Undelivered, days: float, failing: int
) -> None:
    async def counted(dependencies: Dependencies) -> int:
        async def send(_: StoredEmail) -> Undelivered:
            return answer

        nodes = Nodes(dependencies)
        await nodes.give_all_for_sent()
        await nodes.queue(1)
        await deliver_due(nodes.dependencies.transaction, send, pause_after, lambda *_: None, set())
        dependencies.clock.offset += timedelta(days=days)
        return (await raise_mail_alarms(dependencies.transaction)).failing

    assert service.in_own_store(counted) == failing
