import asyncio
from dataclasses import dataclass, field
from datetime import timedelta

from tests.support.audit_rows import NOON, event

from mudra.audit.chain import START, Checkpoint, Intact, Row, SealedRow, verify
from mudra.audit.sealing import seal_next


@dataclass
class Table:
    """A ledger in memory."""

    events: list = field(default_factory=list)
    chain: list = field(default_factory=list)

    async def head(self):
        return Checkpoint(len(self.chain), self.chain[-1].hash, NOON) if self.chain else START

    async def next_unsealed(self, after, limit):
        fresh = self.events[after : after + limit]
        return [Row(number, number, e) for number, e in enumerate(fresh, after + 1)]

    async def keep_seals(self, rows, hashes):
        self.chain += [SealedRow(r, h) for r, h in zip(rows, hashes, strict=True)]


@dataclass
class Place:
    """A witness in memory."""

    published: list = field(default_factory=list)

    async def last(self):
        return self.published[-1] if self.published else START

    async def publish(self, checkpoint):
        self.published.append(checkpoint)


def test_sealing_goes_on_where_it_stopped_and_publishes_when_due():
    table, place = Table([event(n) for n in range(1500)]), Place()

    sealed = [
        asyncio.run(seal_next(table, place, NOON + timedelta(minutes=minute)))
        for minute in (0, 1, 2, 20)
    ]

    assert sealed == [1000, 500, 0, 0]
    assert [c.count for c in place.published] == [1000, 1500]
    assert verify(table.chain, place.published) == Intact(1500, table.chain[-1].hash, 1500)


def test_with_nothing_new_nothing_is_published():
    table, place = Table(), Place()

    assert asyncio.run(seal_next(table, place, NOON)) == 0
    assert place.published == []
