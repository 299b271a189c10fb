"""Windows are judged, and sums made, settled and recounted, one at a time: each may be large."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from mudra.jobs.metrics_jobs import metrics_jobs
from mudra.metrics.notifications.webhook import WaitingMessage
from mudra.metrics.payload.catalogue import Tag
from mudra.metrics.rollup.recount import Compared
from mudra.metrics.rollup.retention import RetentionPolicy
from mudra.metrics.rollup.stale import Stale

NOW = datetime(2026, 3, 4, 9, 30, tzinfo=UTC)


class Counting:
    """Three windows to judge, three hours to sum, three days to settle and to recount."""

    def __init__(self) -> None:
        self.left = {"detect": 3, "refresh": 3, "settle_next": 3, "recount": 3}
        self.at_work = self.most = 0

    async def _work(self, name: str) -> bool:
        self.left[name] -= 1
        self.at_work += 1
        self.most = max(self.most, self.at_work)
        await asyncio.sleep(0)
        self.at_work -= 1
        return self.left[name] > 0

    async def detect(self, *_: object) -> SimpleNamespace:
        return SimpleNamespace(notifications=(), more=await self._work("detect"))

    async def next_stale(self, **_: object) -> Stale | None:
        return Stale("hour", "AA-1", Tag.REQUESTS, (NOW,)) if self.left["refresh"] else None

    async def refresh(self, _: Stale) -> None:
        await self._work("refresh")

    async def settle_next(self, *_: object, **__: object) -> bool:
        return await self._work("settle_next")

    async def recount_parts(self, *_: object) -> Sequence[object]:
        return [object()] * 3

    async def recount(self, _: object) -> Sequence[Compared]:
        await self._work("recount")
        return ()

    @asynccontextmanager
    async def open_work(self, *, within_s: float = 1.0) -> AsyncIterator[Any]:
        assert within_s > 0
        if not any(self.left.values()):
            raise AllDone
        yield SimpleNamespace(now=NOW, detection=self, rollups=self)


class AllDone(Exception):
    """Nothing is left but what the test is not about."""


async def unused(_message: WaitingMessage, _now: datetime) -> str:
    raise NotImplementedError


def run_at_once(counting: Counting) -> Sequence[object]:
    policy = RetentionPolicy(1, 1)
    jobs = metrics_jobs(counting.open_work, policy, unused, unused, Path(), asyncio.Lock())
    wanted = {"metrics-sums", "metrics-watch", "metrics-settle", "metrics-recount"}

    async def every() -> Sequence[object]:
        runs = (job.run() for job in jobs if job.name in wanted)
        return await asyncio.gather(*runs, return_exceptions=True)

    return asyncio.run(every())


def test_windows_and_sums_of_many_are_never_worked_on_at_the_same_moment() -> None:
    counting = Counting()

    run_at_once(counting)

    assert not any(counting.left.values())
    assert counting.most == 1
