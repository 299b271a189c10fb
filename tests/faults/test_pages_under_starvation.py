"""More pages at once than a worker can make: each has an answer in time, a page or 503."""

import asyncio
import contextlib
import multiprocessing
import os
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from bench.support import forks
from tests.support.hostile.simultaneous import crowd, together
from tests.support.members import new_member
from tests.support.people.console import reader
from tests.support.people.operators import new_operator
from tests.support.process import running_service
from tests.support.service import Service
from tests.support.until import PATIENCE_S

AT_ONCE = 300
PAGE = "/console/operator/board"
BOUND_S = 40.0
"""30 s for a turn, the pages before it, and what the callers themselves cost."""


@pytest.mark.slow
def test_each_page_is_answered_or_refused_in_time(tmp_path: Path) -> None:
    with running_service(tmp_path / "data", "--workers", "1") as service:
        new_member(service, "FIP")
        operator = new_operator(service)
        browser = reader(service)
        browser.sign_in(operator.email)
        cookie = "; ".join(f"{name}={value}" for name, value in browser.client.cookies.items())

        with starved(forks(service.process.pid)[-1]):
            answers = asyncio.run(ask(service, cookie))

    statuses = Counter(answer.status_code for answer, _ in answers)
    took = sorted(seconds for _, seconds in answers)
    print(f"{dict(statuses)}; median {took[len(took) // 2]:.1f} s, slowest {took[-1]:.1f} s")
    assert statuses.keys() == {200, 503}
    assert took[-1] < BOUND_S
    refused = [answer for answer, _ in answers if answer.status_code == 503]
    assert all(int(answer.headers["Retry-After"]) >= 1 for answer in refused)
    assert any("too busy" in answer.text for answer in refused)


@contextlib.contextmanager
def starved(worker: int) -> Iterator[None]:
    """Leave a process an eighth of one processor: others that never rest share it."""
    place = min(os.sched_getaffinity(worker))
    before = os.sched_getaffinity(worker)
    others = [multiprocessing.Process(target=spin, args=(place,), daemon=True) for _ in range(7)]
    for other in others:
        other.start()
    os.sched_setaffinity(worker, {place})
    try:
        yield
    finally:
        os.sched_setaffinity(worker, before)
        for other in others:
            other.kill()
            other.join()


def spin(place: int) -> None:
    os.sched_setaffinity(0, {place})
    while True:
        pass


async def ask(service: Service, cookie: str) -> list[tuple[httpx2.Response, float]]:
    async def timed(client: httpx2.AsyncClient, _: int) -> tuple[httpx2.Response, float]:
        began = time.monotonic()
        answer = await client.get(
            service.root + PAGE, headers={"Cookie": cookie}, timeout=PATIENCE_S
        )
        return answer, time.monotonic() - began

    async with crowd(service, AT_ONCE) as clients:
        return await together(clients, timed)
