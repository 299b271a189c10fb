"""bench/picture: the health picture of one FIP over 30 days, and the AA x FIP matrix of today.

Loads days of generated traffic straight through the use case (so receipts,
partitions and sums are the real ones) and asks over HTTP. How much is loaded
is set by AAS, FIPS and DAYS; what was loaded is printed. 30 days of 1,000,000
rows a day are `AAS=20 FIPS=26 DAYS=30`.
"""

import asyncio
import os
import random
import statistics
import sys
import tempfile
import time
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import psycopg

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.support.service import running_service

from mudra.audit.event import Caller
from mudra.metrics.catalogue import WINDOW, window_start
from mudra.metrics.check import CheckedReport, check_report
from mudra.metrics.receive import ReceiveDesk, receive
from mudra.metrics.report import encode_report
from mudra.metrics.traffic import Traffic
from mudra.storage.audit import PostgresJournal
from mudra.storage.database import Database
from mudra.storage.embedded import embedded_server
from mudra.storage.freshness import Freshness
from mudra.storage.metrics import KnownPartitions, PostgresIntake
from mudra.storage.metrics_receipts import OnboardedMembers
from mudra.storage.metrics_rollups import make_anew, next_stale

AAS = int(os.environ.get("AAS", "10"))
FIPS = int(os.environ.get("FIPS", "10"))
DAYS = int(os.environ.get("DAYS", "4"))
EVERY = int(os.environ.get("EVERY", "6"))
"""One window of so many is loaded for former days; today is loaded whole."""
ASKS = 20


async def load(conninfo: str) -> None:
    """Push the windows of some days, as of their own time, and make the sums."""
    real = datetime.now(UTC)
    at = [real]
    database = Database(conninfo, Freshness(conninfo), lambda: at[0] - real)
    partitions = KnownPartitions()
    traffic = Traffic([f"BANK-{place:03}" for place in range(FIPS)])
    dice = random.Random(1)
    last = window_start(real) - WINDOW
    today = last.replace(hour=0, minute=0)
    window = today - timedelta(days=DAYS)
    while window <= last:
        at[0] = window + WINDOW + timedelta(minutes=1)
        for aa in range(AAS):
            body = encode_report(traffic.requests(f"AA-{aa}", window, str(uuid.uuid4()), dice))
            checked = check_report(body, at[0])
            assert isinstance(checked, CheckedReport)
            async with database.transaction() as tx:
                desk = ReceiveDesk(
                    PostgresIntake(tx, partitions), OnboardedMembers(tx), PostgresJournal(tx)
                )
                await receive(checked, str(uuid.uuid4()), Caller("bench"), desk)
        window += WINDOW if window >= today else EVERY * WINDOW
    at[0] = real
    while True:
        async with database.transaction() as tx:
            stale = await next_stale(tx)
            if stale is None:
                break
            await make_anew(tx, stale)
    await database.close()


def p95(times: list[float]) -> float:
    return statistics.quantiles(times, n=20)[-1] * 1000


def asked(root: str, path: str, **query: str) -> float:
    times = []
    with httpx.Client(timeout=60) as client:
        for _ in range(ASKS):
            started = time.perf_counter()
            answer = client.get(f"{root}/operator/v1/health/{path}", params=query)
            assert answer.status_code == 200, answer.text
            times.append(time.perf_counter() - started)
    return p95(times)


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        data_dir = Path(directory) / "data"
        with running_service(data_dir) as service, embedded_server(data_dir) as conninfo:
            started = time.perf_counter()
            asyncio.run(load(conninfo))
            with psycopg.connect(conninfo) as connection:
                counted = connection.execute(
                    "SELECT (SELECT count(*) FROM metrics_raw),"
                    " (SELECT count(*) FROM metrics_hour), (SELECT count(*) FROM metrics_day)"
                ).fetchone()
                assert counted is not None
                connection.execute("ANALYZE")
            print(
                f"loaded {counted[0]} raw rows, {counted[1]} hours, {counted[2]} days: {AAS} AAs,"
                f" {FIPS} FIPs, {DAYS} days and today, in {time.perf_counter() - started:.0f} s"
            )
            now = window_start(datetime.now(UTC))
            begin = (now - timedelta(days=30)).strftime("%Y-%m-%dT%H:%M:%SZ")
            near = (now - timedelta(days=min(3, DAYS))).strftime("%Y-%m-%dT%H:%M:%SZ")
            today = now.strftime("%Y-%m-%dT00:00:00Z")
            whole = asked(service.root, "fips", fipId="BANK-001", **{"from": begin})
            short = asked(service.root, "fips", fipId="BANK-001", **{"from": near})
            matrix = asked(service.root, "matrix", **{"from": today})
            print(f"one FIP over 30 days, p95: {whole:.0f} ms (at most 100)")
            print(f"the same over {min(3, DAYS)} days: {short:.0f} ms; ratio {whole / short:.2f}")
            print(f"AA x FIP matrix of today, p95: {matrix:.0f} ms (at most 100)")


if __name__ == "__main__":
    main()
