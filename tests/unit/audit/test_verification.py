"""A verification keeps up with years of checkpoints, and holds up no other request of its process."""

import asyncio
import threading
import time
from dataclasses import dataclass, field
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st
from tests.support.audit.audit_rows import NOON, checkpoint, trail

from mudra.audit.audit_chain import AuditChain
from mudra.audit.chain import GENESIS, Checkpoint
from mudra.audit.event import Caller
from mudra.audit.place import Reached
from mudra.audit.proof.verdict import AuditState
from mudra.audit.proof.verification import OrderedCheckpoints, verify_audit


def counting(count: int, minute: int = 0) -> Checkpoint:
    return Checkpoint(count, GENESIS, NOON + timedelta(minutes=minute))


COUNTS = st.lists(st.integers(1, 30), max_size=12)


@given(COUNTS, st.integers(0, 32), st.none() | st.integers(0, 32))
def test_the_checkpoints_of_a_page_are_those_that_count_its_rows(counts, start, end):
    known = [counting(count, minute) for minute, count in enumerate(counts)]

    due = OrderedCheckpoints(known).after(start, end)

    assert due == sorted(
        (one for one in known if start < one.count and (end is None or one.count <= end)),
        key=lambda one: one.count,
    )


@given(COUNTS, st.integers(0, 32))
def test_a_row_is_sealed_by_the_first_checkpoint_that_counts_it(counts, row):
    known = [counting(count, minute) for minute, count in enumerate(counts)]
    later = [one for one in known if one.count >= row]

    found = OrderedCheckpoints(known).sealed_by(row, NOON + timedelta(days=1))

    first = min(later, key=lambda one: one.count, default=None)
    assert found == (first.at if first else NOON + timedelta(days=1))


def test_each_page_is_found_at_once_among_the_checkpoints_of_four_years():
    checkpoints = OrderedCheckpoints(counting(count) for count in range(200_000))
    start = time.process_time()

    for row in range(0, 200_000, 100):
        assert len(checkpoints.after(row, row + 1)) == 1
        assert checkpoints.sealed_by(row, NOON) == NOON

    assert time.process_time() - start < 2  # to look through all of them each time takes far longer


@dataclass
class Table:
    """A ledger of sealed rows in memory."""

    chain: list
    verified: list = field(default_factory=list)

    async def keep_verification(self, *, intact):
        self.verified.append(intact)

    async def epochs(self):
        return []

    async def now(self):
        return NOON + timedelta(minutes=1)

    async def cluster(self):
        return "one"

    async def count(self):
        return len(self.chain)

    async def first(self):
        return 1

    async def reached(self):
        return Reached(0, 0)

    async def unsealed(self, _):
        return []

    async def sealed(self, after=0):
        for one in self.chain[after:]:
            yield one


@dataclass
class Place:
    """A second place, or the checkpoints of a database, that notes which thread read it."""

    published: list
    read_by: list = field(default_factory=list)

    def all(self):
        self.read_by.append(threading.get_ident())
        return list(self.published)


@dataclass
class Shared:
    """Checkpoints of a database in memory."""

    kept: list

    async def all(self):
        return list(self.kept)


class NoTokens:
    """No issued tokens."""

    async def dropped(self):
        return 0

    async def unnamed(self, *_):
        return 0

    async def longest_wait(self):
        return None


class Log:
    """An audit log in memory."""

    async def append(self, _):
        pass


def test_the_second_place_is_read_next_to_other_requests():
    chain = trail(12)
    known = [checkpoint(chain, 5), checkpoint(chain, 12)]
    place = Place(known)
    parts = AuditChain(Table(chain), Shared(known), place, NoTokens(), None)

    found = asyncio.run(verify_audit(parts, Log(), Caller("operator:rao")))

    assert (found.state, found.vouched) == (AuditState.INTACT, 12)
    assert len(place.read_by) == 1
    assert place.read_by != [threading.get_ident()]
