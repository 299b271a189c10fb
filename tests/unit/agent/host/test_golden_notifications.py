"""The notifications of one day, counted by the agent and by SQL."""

import json
import random
import sqlite3
from pathlib import Path

import pytest
from tests.support.manual_clock import START, WINDOW, MovedClock

from mudra.agent.host.replay import Replay
from mudra.agent.sources.access_log import FORMATS
from mudra.metrics.payload.validation import CheckedReport, check_report

CLOSE_DELAY = 30_000

FIPS = 40
SESSIONS = 4_000
OTHERS = 2_000
DAY = 144 * WINDOW
TOOK = 20
URIS = {
    "finot": "/v2/FI/Notification",
    "alnot": "/Account/link/Notification",
    "cnot": "/v1/consent/notification",
}
FINAL_STATUSES = ["READY", "READY", "READY", "DELIVERED,READY", "DENIED", "TIMEOUT", "DENIED,READY"]

# Spec 2.6 in SQL: of a session's terminal notifications the last of a window, in the first window
# that has one and, when that was a failure, in the first window that ends in a success.
OUTCOMES = """
WITH terminal AS (
  SELECT *, (started / 600000) * 600000 AS window,
    statuses LIKE '%READY%' OR statuses LIKE '%DELIVERED%' AS success
  FROM line WHERE code = 'finot' AND statuses NOT LIKE '%PENDING%'),
last AS (
  SELECT fip, session, window, max(started) AS started FROM terminal GROUP BY fip, session, window),
outcome AS (SELECT * FROM last JOIN terminal USING (fip, session, window, started)),
deciding AS (
  SELECT * FROM outcome o WHERE window IN (
    (SELECT min(window) FROM outcome f WHERE f.fip = o.fip AND f.session = o.session),
    (SELECT min(window) FROM outcome f WHERE f.fip = o.fip AND f.session = o.session AND success)))
SELECT window, fip, count(*), sum(success), sum(NOT success),
  sum(statuses LIKE '%READY%'), sum(statuses LIKE '%DENIED%'),
  sum(statuses LIKE '%DELIVERED%'), sum(statuses LIKE '%TIMEOUT%')
FROM deciding GROUP BY window, fip
"""
PENDING = """
SELECT (started / 600000) * 600000 AS window, fip, count(*) FROM line
WHERE code = 'finot' AND statuses LIKE '%PENDING%' GROUP BY window, fip
"""
REST = """
SELECT (started / 600000) * 600000 AS window, fip, code, count(*), sum(status = 200),
  sum(status = 400), sum(status = 500)
FROM line WHERE code <> 'finot' GROUP BY window, fip, code
"""


def _lines() -> list[tuple[int, str, str, int, str, str]]:
    """Start, FIP, type, status, session and statuses of every notification of the day."""
    chance = random.Random(2027)
    lines = []
    for number in range(SESSIONS):
        fip, session = f"FIP-{chance.randrange(FIPS)}", f"S-{number}"
        at = START + chance.randrange(DAY - 4 * WINDOW)
        for statuses in ["PENDING"] * chance.randrange(3) + ["READY,PENDING"] * chance.randrange(2):
            lines.append((at, fip, "finot", 200, session, statuses))
            at += chance.randrange(1, WINDOW)
        # Sent again, with the same or other final statuses, in the same window or a later one.
        for _ in range(chance.choice([0, 1, 1, 1, 2, 3])):
            lines.append((at, fip, "finot", 200, session, chance.choice(FINAL_STATUSES)))
            at += chance.randrange(1, WINDOW // 2)
            # In the 30 s while two windows are open a later one moves the count: see test_fi_session_tracker.
            at += CLOSE_DELAY + TOOK if at % WINDOW < CLOSE_DELAY + TOOK else 0
    lines += [
        (
            START + chance.randrange(DAY),
            f"FIP-{chance.randrange(FIPS)}",
            chance.choice(["alnot", "cnot"]),
            chance.choice([200, 200, 200, 400, 500]),
            "",
            "",
        )
        for _ in range(OTHERS)
    ]
    return sorted(lines)


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory):
    """The log's blocks as the agent makes them, and its lines in a database."""
    path: Path = tmp_path_factory.mktemp("notifications") / "access.json"
    lines = _lines()
    with path.open("w") as file:
        for started, fip, code, status, session, statuses in lines:
            line = {
                "time": f"{(started + TOOK) / 1000:.3f}",
                "request_time": f"{TOOK / 1000:.3f}",
                "method": "POST",
                "uri": URIS[code],
                "fip": fip,
                "status": status,
                "session": session,
                "fi_statuses": statuses,
            }
            file.write(json.dumps(line) + "\n")
    db = sqlite3.connect(":memory:")
    db.execute(
        "CREATE TABLE line (started INT, fip TEXT, code TEXT, status INT, session TEXT, statuses TEXT)"
    )
    db.executemany("INSERT INTO line VALUES (?, ?, ?, ?, ?, ?)", lines)
    replay = Replay("AA-1", FORMATS["nginx"], {}, inbound=True)
    blocks = {}
    for payload in replay.payloads(path):
        clock = MovedClock(payload.window + WINDOW + 60_000)
        checked = check_report(payload.body, clock.datetime())
        assert isinstance(checked, CheckedReport), checked
        if checked.tag.value.startswith("not"):
            for fip in checked.report.fips:
                for block in fip.metrics:
                    blocks[payload.window, fip.fip_id, block.type] = block
    return blocks, db


def test_every_outcome_of_the_day_is_counted_once_in_its_window(day) -> None:
    blocks, db = day
    pending = {(window, fip): number for window, fip, number in db.execute(PENDING)}
    expected = {
        (window, fip): (total, (*breakdown, pending.pop((window, fip), 0)))
        for window, fip, total, *breakdown in db.execute(OUTCOMES)
    }
    expected |= {key: (0, (0,) * 6 + (number,)) for key, number in pending.items()}

    got = {
        (window, fip): (block.counts[0], block.status)
        for (window, fip, code), block in blocks.items()
        if code == "finot"
    }

    assert got == expected
    assert sum(total for total, _ in got.values()) > SESSIONS * 0.8


def test_every_other_notification_of_the_day_is_that_of_the_sql(day) -> None:
    blocks, db = day
    expected = {
        (window, fip, code): tuple(counts) for window, fip, code, *counts in db.execute(REST)
    }

    got = {
        key: (block.counts[0], block.counts[1], block.counts[2], block.counts[10])
        for key, block in blocks.items()
        if key[2] != "finot"
    }

    assert got == expected
