"""A golden day: the log of one AA with 40 FIPs, and the same log counted by SQL."""

import json
import random
import sqlite3
from collections import defaultdict
from pathlib import Path

import msgspec
import pytest
from tests.support.manual_clock import START, WINDOW, MovedClock

from mudra.agent.host.replay import Replay
from mudra.agent.sources.logs.log_formats import FORMATS
from mudra.metrics.payload.catalogue import Tag
from mudra.metrics.payload.report import tag_of
from mudra.metrics.payload.validation import CheckedReport, check_report

FIPS = 40
LINES = 30_000
DAY = 144 * WINDOW
ROUTES = {
    "adisc": ("POST", "/v2/Accounts/discover"), "alink": ("POST", "/v2/Accounts/link"),
    "alinkv": ("POST", "/v2/accounts/Link/verify"), "adlink": ("POST", "/Accounts/delink"),
    "cns": ("POST", "/v2/Consent"), "cnot": ("POST", "/v2/Consent/Notification"),
    "fireq": ("POST", "/v2/FI/request"), "fif": ("POST", "/v2/FI/fetch?x=1"), "hbt": ("GET", "/v1/Heartbeat"),
}  # fmt: skip
STATUSES = [200] * 30 + [400, 401, 403, 404, 404, 409, 410, 412, 429, 500, 501, 502, 503, 504]

# What spec 2.5 asks for, in SQL, from the log's own columns and nothing of the agent's.
COUNTS = """
SELECT (started / 600000) * 600000 AS window, fip, code, count(*),
  sum(status = 200 AND took <= 30000), sum(status = 400 AND took <= 30000),
  sum(status = 401 AND took <= 30000), sum(status = 403 AND took <= 30000),
  sum(status = 404 AND took <= 30000), sum(status = 409 AND took <= 30000),
  sum(status = 412 AND took <= 30000), sum(status = 429 AND took <= 30000),
  sum(status BETWEEN 400 AND 499 AND status NOT IN (400, 401, 403, 404, 409, 412, 429) AND took <= 30000),
  sum(status = 500 AND took <= 30000), sum(status = 502 AND took <= 30000),
  sum(status = 503 AND took <= 30000), sum(status = 504 AND took <= 30000),
  sum(status BETWEEN 500 AND 599 AND status NOT IN (500, 502, 503, 504) AND took <= 30000),
  sum(CASE WHEN status = 200 AND took <= 30000 THEN bytes ELSE 0 END)
FROM line GROUP BY window, fip, code
"""
TIMES = """
SELECT (started / 600000) * 600000 AS window, fip, code, took FROM line
WHERE status > 0 AND took <= 30000 ORDER BY took
"""


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory):
    """The log, and its lines in a database."""
    chance = random.Random(2026)
    path: Path = tmp_path_factory.mktemp("day") / "access.json"
    db = sqlite3.connect(":memory:")
    db.execute(
        "CREATE TABLE line (started INT, took INT, fip TEXT, code TEXT, status INT, bytes INT)"
    )
    rows = []
    for _ in range(LINES):
        took = min(int(chance.lognormvariate(6, 1.2)), 40_000)
        status = 0 if chance.random() < 0.02 else chance.choice(STATUSES)
        # A few FIPs have most of the traffic, as in the network.
        fip = f"FIP-{min(int(chance.expovariate(0.15)), FIPS - 1)}"
        rows.append(
            (
                START + chance.randrange(DAY),
                took,
                fip,
                chance.choice(list(ROUTES)),
                status,
                chance.randrange(90_000),
            )
        )
    rows.sort(key=lambda row: row[0] + row[1])  # nginx writes a line when the answer is there
    with path.open("w") as file:
        for started, took, fip, code, status, size in rows:
            method, uri = ROUTES[code]
            line = {
                "time": f"{(started + took) / 1000:.3f}",
                "request_time": f"{took / 1000:.3f}",
                "method": method,
                "uri": uri,
                "host": f"{fip.lower()}.test:443",
                "bytes": size,
            }
            line |= (
                {"status": status, "upstream_status": str(status), "upstream_header_time": "0.1"}
                if status
                else {"status": 504, "upstream_status": "504", "upstream_header_time": "-"}
            )
            file.write(json.dumps(line) + "\n")
    db.executemany("INSERT INTO line VALUES (?, ?, ?, ?, ?, ?)", rows)
    return path, db


@pytest.fixture(scope="module")
def reports(day):
    path, _ = day
    fips = {f"fip-{number}.test": f"FIP-{number}" for number in range(FIPS)}
    replay = Replay("AA-1", FORMATS["nginx"], fips, inbound=False)
    found = []
    for payload in replay.payloads(path):
        clock = MovedClock(payload.window + WINDOW + 60_000)
        checked = check_report(payload.body, clock.datetime())
        assert isinstance(checked, CheckedReport), checked
        found.append(checked)
    return found


def test_every_count_of_the_day_is_that_of_the_sql(day, reports) -> None:
    _, db = day
    expected = {
        (window, fip, code): (tuple(counts), size)
        for window, fip, code, *counts, size in db.execute(COUNTS)
    }

    got = {}
    for checked in reports:
        window = int(checked.window.timestamp() * 1000)
        for fip in checked.report.fips:
            for block in fip.metrics:
                size = block.sum_of_size_of_data_packets
                got[window, fip.fip_id, block.type] = (block.counts, size)

    assert got.keys() == expected.keys()
    assert {key: counts for key, (counts, _) in got.items()} == {
        key: counts for key, (counts, _) in expected.items()
    }
    sizes = {key: str(size) for key, (_, size) in expected.items() if key[2] == "fif"}
    assert {key: size for key, (_, size) in got.items() if size is not msgspec.UNSET} == sizes
    assert len({fip for _, fip, _ in got}) == FIPS
    reported = {(tag_of(one.report), one.window) for one in reports}
    assert len(reports) == len(reported) == 2 * 144
    assert not any(one.report.fips for one in reports if tag_of(one.report) is Tag.NOTIFICATIONS)


def test_every_percentile_of_the_day_is_within_one_percent_and_p100_exact(day, reports) -> None:
    _, db = day
    times = defaultdict(list)
    for window, fip, code, took in db.execute(TIMES):
        times[window, fip, code].append(took)

    for checked in reports:
        window = int(checked.window.timestamp() * 1000)
        for fip in checked.report.fips:
            for block in fip.metrics:
                exact = times.get((window, fip.fip_id, block.type), [0])
                for percent, got in zip((50, 95, 99), block.pxx, strict=False):
                    nearest = exact[max(1, -(-percent * len(exact) // 100)) - 1]
                    assert abs(got - nearest) <= 0.01 * nearest
                assert block.pxx[3] == exact[-1]
