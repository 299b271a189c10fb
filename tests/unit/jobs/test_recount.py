"""A night's recount goes on where it can, and has an end where it cannot."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from prometheus_client import REGISTRY

from mudra.jobs.recount import recount_days
from mudra.metrics.payload.catalogue import Tag
from mudra.metrics.rollup.recount import Compared, RecountPart
from mudra.metrics.rollup.rollup_service import RollupService
from mudra.metrics.rollup.stale import Stale
from mudra.shared.unavailable import DatabaseUnavailable, Outage

MAX_FAILED = 6

TODAY = datetime(2026, 3, 4, tzinfo=UTC)
YESTERDAY = TODAY - timedelta(days=1)
PARTS = [RecountPart(YESTERDAY, f"BANK-{number}") for number in range(20)]
FOURTH = PARTS[3]
"""The sums about one FIP, among those of others."""


@dataclass
class Sums:
    """Sums of which some parts fail, for some of the times that they are compared."""

    failing: dict[RecountPart, list[Exception]]
    different: Collection[RecountPart] = ()
    tried: list[RecountPart] = field(default_factory=list)
    marked: list[Stale] = field(default_factory=list)
    transactions: int = 0

    async def recount_parts(self, day):
        return PARTS if day == YESTERDAY else []

    async def recount(self, part):
        self.tried.append(part)
        if self.failing.get(part):
            raise self.failing[part].pop()
        sums = Stale("hour", "aa-one", Tag.REQUESTS, (part.day,))
        return [Compared(sums, 10, 2 if part in self.different else 0)]

    async def mark_stale(self, sums):
        self.marked.append(sums)

    @contextlib.asynccontextmanager
    async def open_work(self, **_) -> AsyncIterator[SimpleNamespace]:
        self.transactions += 1
        yield SimpleNamespace(now=TODAY + timedelta(hours=2), rollups=RollupService(self))


def too_slow(times=1):
    return [DatabaseUnavailable("QueryCanceled", Outage.TOO_SLOW) for _ in range(times)]


def counted(name, **labels):
    return REGISTRY.get_sample_value(name, labels) or 0


def failed():
    return counted("mudra_metrics_recount_parts_total", outcome="failed")


def test_each_part_has_a_transaction_of_its_own_and_only_what_differs_is_marked():
    sums = Sums({}, different=[FOURTH])
    before = counted("mudra_metrics_recounted_total", grain="hour", outcome="different")

    asyncio.run(recount_days(sums.open_work))

    assert sums.tried == PARTS
    assert sums.transactions == len(PARTS) + 1
    assert sums.marked == [Stale("hour", "aa-one", Tag.REQUESTS, (FOURTH.day,))]
    after = counted("mudra_metrics_recounted_total", grain="hour", outcome="different")
    assert after == before + 2


def test_a_part_that_fails_stops_no_other_and_is_tried_again_at_the_end():
    sums, before = Sums({FOURTH: too_slow()}), failed()

    asyncio.run(recount_days(sums.open_work))

    assert sums.tried == [*PARTS, FOURTH]
    assert failed() == before


@pytest.mark.parametrize("error", [ValueError("a row"), *too_slow()], ids=["a row", "too slow"])
def test_a_part_that_fails_twice_is_left_to_the_next_night(error):
    sums, before = Sums({FOURTH: [error, error]}), failed()

    asyncio.run(recount_days(sums.open_work))

    assert sums.tried == [*PARTS, FOURTH]
    assert failed() == before + 1


def test_a_database_that_is_too_slow_for_any_part_is_left_alone():
    sums, before = Sums({part: too_slow(9) for part in PARTS}), failed()

    asyncio.run(recount_days(sums.open_work))

    assert len(sums.tried) == 2 * MAX_FAILED
    assert failed() == before + len(PARTS)


def test_a_database_that_is_away_ends_the_run_which_is_due_again():
    sums = Sums({FOURTH: [DatabaseUnavailable("OperationalError", Outage.UNREACHABLE)]})

    with pytest.raises(DatabaseUnavailable):
        asyncio.run(recount_days(sums.open_work))

    assert sums.tried == PARTS[:4]
