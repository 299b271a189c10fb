import asyncio
from dataclasses import dataclass, field
from datetime import timedelta

from tests.support.audit.audit_rows import NOON, event

from mudra.audit.acts import Acts
from mudra.audit.audit_chain import AuditChain
from mudra.audit.chain import START, Checkpoint, Epoch, Intact, Row, SealedRow, verify
from mudra.audit.event import EventName
from mudra.audit.proof.sealing import copy_checkpoints, seal_next


@dataclass
class Table:
    """A ledger in memory."""

    events: list = field(default_factory=list)
    chain: list = field(default_factory=list)
    opened: list = field(default_factory=list)
    name: str = "one"
    listed: set = field(default_factory=set)

    async def head(self):
        if not self.chain:
            return START
        last = self.chain[-1]
        return Checkpoint(len(self.chain), last.hash, NOON, last.row.epoch)

    async def cluster(self):
        return self.name

    async def epochs(self):
        return list(self.opened)

    async def add_epoch(self, epoch):
        self.opened.append(epoch)

    async def next_unsealed(self, after, epoch, limit):
        fresh = self.events[after : after + limit]
        return [Row(number, number, e, 0, epoch) for number, e in enumerate(fresh, after + 1)]

    async def next_restored(self, *_):
        return []

    async def acts(self, after, until):
        return Acts(tuple(n for n in range(after + 1, until + 1) if n in self.listed))

    async def keep_seals(self, rows, hashes):
        self.chain += [SealedRow(r, h) for r, h in zip(rows, hashes, strict=True)]


@dataclass
class Shared:
    """Checkpoints in memory."""

    kept: list = field(default_factory=list)
    given: list = field(default_factory=list)

    async def last(self):
        return self.kept[-1] if self.kept else START

    async def all(self):
        self.given += self.kept
        return list(self.kept)

    async def since(self, known):
        place = (known.epoch, known.count)
        before = [c for c in self.kept if (c.epoch, c.count) <= place]
        found = [*before[-1:], *(c for c in self.kept if (c.epoch, c.count) > place)]
        self.given += found
        return found

    async def add(self, checkpoint):
        self.kept.append(checkpoint)


@dataclass
class Place:
    """A second place in memory."""

    published: list = field(default_factory=list)
    acts: list = field(default_factory=list)

    def all(self):
        return list(self.published)

    def newest(self):
        return self.published[-1] if self.published else None

    def publish(self, checkpoint, acts):
        self.published.append(checkpoint)
        self.acts.append(acts)


@dataclass
class Log:
    """An audit log in memory."""

    entries: list = field(default_factory=list)

    async def append(self, entry):
        self.entries.append(entry)


def seal(table, shared, minute=0, log=None):
    chain = AuditChain(table, shared, Place(), None, None)
    return asyncio.run(seal_next(chain, log or Log(), NOON + timedelta(minutes=minute)))


def checkpoint_at(count):
    return Checkpoint(count, bytes([count]) * 32, NOON + timedelta(minutes=count))


def test_sealing_goes_on_where_it_stopped_and_signs_a_checkpoint_when_due():
    table, shared = Table([event(n) for n in range(1500)]), Shared()

    sealed = [seal(table, shared, minute) for minute in (0, 1, 2, 20)]

    assert sealed == [1000, 500, 0, 0]
    assert [c.count for c in shared.kept] == [1000, 1500]
    assert verify(table.chain, shared.kept) == Intact(1500, table.chain[-1].hash, 1500)


def test_a_dropped_key_has_its_checkpoint_at_once():
    table, shared = Table([event(n) for n in range(3)]), Shared()
    seal(table, shared)
    table.events.append(event(3))
    seal(table, shared, 1)
    table.events.append(event(4, event=EventName.KEYS_SIGNING_DROP))

    seal(table, shared, 2)

    table.events.append(event(5))
    seal(table, shared, 3)
    assert [c.count for c in shared.kept] == [3, 5]


def test_with_nothing_new_nothing_is_signed():
    table, shared = Table(), Shared()

    assert seal(table, shared) == 0
    assert shared.kept == []


def test_another_cluster_begins_an_epoch_that_the_chain_goes_through():
    table, shared, log = Table([event(n) for n in range(3)]), Shared(), Log()
    seal(table, shared)
    table.name = "two"
    table.events += [event(n) for n in range(3, 5)]

    seal(table, shared, 1, log)

    assert table.opened[1] == Epoch(2, "two", 3, 3, NOON + timedelta(minutes=1))
    assert [entry.event for entry in log.entries] == ["audit:epoch:open"]
    assert [c.epoch for c in shared.kept] == [1, 2]
    end = Intact(5, table.chain[-1].hash, 5, epoch=2)
    assert verify(table.chain, shared.kept, epochs=table.opened) == end
    assert verify(table.chain, shared.kept, epochs=table.opened[:1]) != end


def test_the_second_place_gets_what_it_lacks_and_nothing_that_contradicts_it():
    shared, place = Shared(), Place()
    table = Table([event(n) for n in range(3)])
    seal(table, shared)
    chain = AuditChain(table, shared, place, None, None)

    assert asyncio.run(copy_checkpoints(chain))
    assert place.published == shared.kept
    shared.kept = [Checkpoint(3, bytes(32), NOON), Checkpoint(4, bytes(32), NOON)]
    assert not asyncio.run(copy_checkpoints(chain))
    assert len(place.published) == 1


def test_what_the_second_place_has_is_not_read_again():
    shared, place = Shared(), Place()
    table = Table([event(n) for n in range(9)], listed={3, 5, 9})
    chain = AuditChain(table, shared, place, None, None)
    shared.kept = [checkpoint_at(count) for count in (3, 5, 8)]
    asyncio.run(copy_checkpoints(chain))
    shared.kept.append(checkpoint_at(9))
    shared.given.clear()

    assert asyncio.run(copy_checkpoints(chain))
    assert [c.count for c in shared.given] == [8, 9]
    assert [acts.listed for acts in place.acts] == [(3,), (5,), (), (9,)]
