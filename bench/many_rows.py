"""Millions of rows of raw windows, for what must hold next to them: an upgrade, a restore.

One window of payloads is generated, checked and written by `COPY`; the others are that window, some
hours earlier each. None asks for sums, so the jobs leave them alone.
"""

import random
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import psycopg

from bench.picture import say
from mudra.demo.traffic import Traffic
from mudra.metrics.payload.catalogue import WINDOW, window_start
from mudra.metrics.payload.report import encode_report
from mudra.metrics.payload.validation import CheckedReport, check_report
from mudra.storage.metrics.stored_report import lines_of

BUSIEST = 3000
STEP = timedelta(hours=3)
"""Between two windows, so that the rows are of many days, each a partition."""
BEFORE = timedelta(days=2)
"""The newest of them is so old: the load of a benchmark pushes what is newer."""
_COLUMNS = "window_at, aa_id, tag, fip_id, type, counts, pxx, status, data_bytes"


def newest_window(now: datetime) -> datetime:
    """The newest window that gets rows."""
    return window_start(now - BEFORE)


def oldest_day(now: datetime, windows: int) -> datetime:
    """The day of the oldest window: partitions are to begin there."""
    oldest = newest_window(now) - windows * STEP
    return oldest.replace(hour=0, minute=0)


def load_rows(conninfo: str, aas: Sequence[str], fips: Sequence[str], rows: int) -> int:
    """Write at least so many rows, whose partitions are there; gives how many were written."""
    window = newest_window(datetime.now(UTC))
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("SET synchronous_commit = off")
        with connection.cursor().copy(f"COPY metrics_raw ({_COLUMNS}) FROM STDIN") as copying:
            made = sum(_copy(copying, aa_id, fips, window) for aa_id in aas)
        say(f"{made:,} rows of one window")
        place, each = 0, made
        while made < rows:
            place += 1
            connection.execute(
                f"INSERT INTO metrics_raw ({_COLUMNS}) SELECT window_at - %s,"
                f" {_COLUMNS.partition(', ')[2]} FROM metrics_raw WHERE window_at = %s",
                [place * STEP, window],
            )
            made += each
            if place % 10 == 0:
                say(f"{made:,} rows")
        connection.execute("VACUUM ANALYZE metrics_raw")
    return made


def windows_of(rows: int, aas: int, fips: int) -> int:
    """So many windows at most hold as many rows, if few types have no calls in a window."""
    return rows // max(1, aas * fips * 7) + 1


def _copy(copying: psycopg.Copy, aa_id: str, fips: Sequence[str], window: datetime) -> int:
    traffic, dice, made = Traffic(fips, BUSIEST), random.Random(aa_id), 0
    for make in (traffic.requests, traffic.notifications):
        body = encode_report(make(aa_id, window, str(uuid.uuid4()), dice))
        checked = check_report(body, window + 2 * WINDOW)
        assert isinstance(checked, CheckedReport), checked
        lines = list(lines_of(checked))
        copying.write(b"".join(lines))
        made += len(lines)
    return made
