"""bench/push: the cost of a metrics push, as a ratio to reading its JSON and a bare COPY.

Pushes payloads of 200 FIPs x 11 types through a real service (one worker) and
compares the CPU time of worker and database with `json.loads` of the same
bytes plus a bare `COPY` of the same rows. Then 20 AAs push at the same second.

Two bodies: the counts of an ordinary ten minutes make 210 KB; the 480 KB that the
goal names are the same blocks with counts of 11 to 13 digits, which is the dearest
way to come to that size: white space and long names cost neither side much. All 15
counts are filled, but for the two types of times, which have none but the first two.
So many calls of a new AA are implausible and would be held, which is another path: an
operator admits one such report of each AA first, and from then on they are plausible.

The process that does jobs pauses meanwhile: what it makes of a window, it
makes after the answer.
"""

import asyncio
import json
import os
import signal
import statistics
import time
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import httpx2
import msgspec
from tests.support.metrics.metrics_payloads import request_block, request_metrics
from tests.support.metrics.metrics_push import PushingAa, pushing_aa
from tests.support.people.operators import Operator, new_operator
from tests.support.process import running_service
from tests.support.service import Service

from bench.bare_rows import copy_seconds, lines_of
from bench.sizes import sized
from bench.support import cpu_of_tree, jobs_pid, postmaster, scratch
from mudra.metrics.payload.catalogue import WINDOW, RequestType, window_start
from mudra.metrics.payload.report import RequestFip, RequestMetrics
from mudra.metrics.payload.validation import CheckedReport, check_report
from mudra.storage.database.embedded.server import embedded_server

FIPS = sized(200, 5)
PUSHES = sized(40, 2)
WIDE = 4_000_000_000_000
"""Calls of each block in the large body."""
AAS = sized(20, 2)


def bodies(aa: PushingAa, places: range, *, wide: bool = False) -> list[bytes]:
    """Payloads, of each as many windows ago as `places` says."""
    last = aa.last_window()
    made = []
    for place in places:
        start = last - place * WINDOW
        payload = request_metrics(FIPS, aa.aa_id, str(uuid.uuid4()), start, place)
        made.append(msgspec.json.encode(widened(payload, place) if wide else payload))
    return made


def widened(payload: RequestMetrics, seed: int) -> RequestMetrics:
    """The same FIPs and types with wide numbers."""
    fips = []
    for place, fip in enumerate(payload.fips):
        blocks = tuple(request_block(code, seed + place, WIDE) for code in RequestType)
        fips.append(RequestFip(fip.fip_id, blocks))
    return msgspec.structs.replace(payload, fips=tuple(fips))


def bare(conninfo: str, payloads: list[bytes], now: datetime) -> float:
    """CPU seconds of reading the JSON, and of COPY of the same rows into a plain table."""
    started = time.process_time()
    for body in payloads:
        json.loads(body)
    reading = time.process_time() - started
    texts = []
    for body in payloads:
        checked = check_report(body, now)
        assert isinstance(checked, CheckedReport)
        texts.append(lines_of(checked))
    copying = copy_seconds(conninfo, texts)
    print(
        f"  bare: json.loads {reading / len(payloads) * 1000:.1f} ms, COPY "
        f"{copying / len(payloads) * 1000:.1f} ms a payload"
    )
    return (reading + copying) / len(payloads)


async def all_at_once(
    aas: list[PushingAa],
    payloads: list[bytes],
    clock: Callable[[], float] = time.perf_counter,
) -> list[float]:
    async with httpx2.AsyncClient(timeout=60) as client:

        async def one(aa: PushingAa, body: bytes) -> float:
            started = clock()
            while True:
                answer = await client.post(
                    f"{aa.service.root}/metrics/perf/v1/push",
                    content=body,
                    headers={"Content-Type": "application/json", **aa.bearer},
                )
                if answer.status_code == 200:
                    return clock() - started
                await asyncio.sleep(float(answer.headers["Retry-After"]))

        return await asyncio.gather(
            *(one(aa, body) for aa, body in zip(aas, payloads, strict=True))
        )


def trusted_aa(service: Service, noc: Operator) -> PushingAa:
    """An AA of which an operator has admitted a report of wide numbers."""
    aa = pushing_aa(service)
    (oldest,) = bodies(aa, range(PUSHES + 6, PUSHES + 7), wide=True)
    receipt = aa.push(oldest).json()["receiptId"]
    assert noc.post(f"/health/held-reports/{receipt}/admit", reason="bench").status_code == 200
    return aa


def push_counted(aa: PushingAa, body: bytes) -> None:
    """Push a report that is stored, and not held as implausible."""
    answer = aa.push(body)
    assert answer.status_code == 200, answer.text
    assert "implausible" not in answer.text


def measured(aa: PushingAa, conninfo: str, server: int, *, wide: bool) -> tuple[float, float]:
    """CPU seconds of a push in service and database, and of the bare work."""
    service = aa.service
    payloads = bodies(aa, range(PUSHES + 5), wide=wide)
    for body in payloads[:5]:
        push_counted(aa, body)
    # The supervisor first: it would replace a process that pauses.
    still = (service.process.pid, jobs_pid(service.process.pid))
    for pid in still:
        os.kill(pid, signal.SIGSTOP)
    before = cpu_of_tree(service.process.pid), cpu_of_tree(server)
    times = []
    for body in payloads[5:]:
        started = time.perf_counter()
        push_counted(aa, body)
        times.append(time.perf_counter() - started)
    used = cpu_of_tree(service.process.pid) - before[0], cpu_of_tree(server) - before[1]
    for pid in reversed(still):
        os.kill(pid, signal.SIGCONT)
    base = bare(conninfo, payloads[5:], window_start(aa.now()) + timedelta(minutes=10))
    print(
        f"  push: {len(payloads[0]) / 1000:.0f} KB,"
        f" service {used[0] / PUSHES * 1000:.1f} ms,"
        f" database {used[1] / PUSHES * 1000:.1f} ms CPU,"
        f" {statistics.median(times) * 1000:.1f} ms until durable"
    )
    return sum(used) / PUSHES, base


def main() -> None:
    with scratch() as directory:
        data_dir = Path(directory) / "data"
        with (
            running_service(data_dir, keeps_store=True) as service,
            embedded_server(data_dir) as conninfo,
        ):
            noc = new_operator(service, "health")
            for wide in (False, True):
                aa = trusted_aa(service, noc)
                each, base = measured(aa, conninfo, postmaster(data_dir), wide=wide)
                print(f"CPU of a push / (json.loads + bare COPY): {each / base:.2f} (at most 2)")
            aas = [trusted_aa(service, noc) for _ in range(AAS)]
            waits = asyncio.run(
                all_at_once(aas, [bodies(one, range(1), wide=True)[0] for one in aas])
            )
            print(
                f"{AAS} AAs at the same second, all durable within: {max(waits):.2f} s (at most 5)"
            )


if __name__ == "__main__":
    main()
