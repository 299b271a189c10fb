"""What a network reported before a benchmark began: its windows, and the sums of earlier times."""

import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta

import psycopg

from mudra.metrics.payload.catalogue import WINDOW, day_start
from mudra.metrics.payload.report import Report, encode_report
from mudra.metrics.payload.validation import CheckedReport, check_report
from mudra.storage.metrics.stored_report import lines_of

_RAW = "window_at, aa_id, tag, fip_id, type, counts, pxx, status, data_bytes"
_SUMS = "tag, fip_id, type, blocks, counts, statuses, data_bytes, distribution, longest"
_RECEIPT = (
    "receipt_id, aa_id, tag, window_at, version, txn_id, content_hash, received_at, blocks,"
    " findings"
)


def checked(report: Report, now: datetime) -> CheckedReport:
    """Check a report that the service accepts."""
    found = check_report(encode_report(report), now)
    assert isinstance(found, CheckedReport), found
    return found


def copy_windows(
    conninfo: str, last: Sequence[CheckedReport], until: datetime, windows: int
) -> int:
    """Write so many windows before `until`, all alike; gives how many raw rows were written.

    `last` has the reports of the last one. With receipts, and the marks that ask for sums; the
    partitions are there.
    """
    model = until - WINDOW
    found = [(one, list(lines_of(one))) for one in last]
    number = 0
    for place in range(windows):
        window = until - (place + 1) * WINDOW
        old, new = model.isoformat().encode(), window.isoformat().encode()
        with psycopg.connect(conninfo) as connection:
            with connection.cursor().copy(f"COPY metrics_raw ({_RAW}) FROM STDIN") as raw:
                for _, lines in found:
                    raw.write(b"".join(lines).replace(old, new))
            with connection.cursor().copy(f"COPY metrics_receipt ({_RECEIPT}) FROM STDIN") as rows:
                for one, lines in found:
                    number += len(lines)
                    rows.write_row(
                        (
                            *(str(uuid.uuid4()), one.aa_id, one.tag.value[:3], window, 1),
                            *(one.txn_id, one.content_hash, window + WINDOW, len(lines), "[]"),
                        )
                    )
            connection.execute(
                "INSERT INTO metrics_stale (grain, aa_id, tag, at) SELECT DISTINCT 'hour', aa_id,"
                " tag, date_trunc('hour', window_at, 'UTC') FROM metrics_receipt"
                " WHERE window_at = %s",
                (window,),
            )
    return number


def keep_sums(connection: psycopg.Connection[tuple[object, ...]], now: datetime) -> None:
    """Let sums without raw rows stay: today is no whole day yet, and no job compares them."""
    connection.execute(
        "INSERT INTO metrics_stale (grain, aa_id, tag, at)"
        " SELECT DISTINCT 'day', aa_id, tag, %(day)s::timestamptz FROM metrics_receipt"
        " UNION SELECT DISTINCT 'day', '', tag, %(day)s::timestamptz FROM metrics_receipt",
        {"day": day_start(now)},
    )
    connection.execute(
        "INSERT INTO job_run (name, slot, started_at, finished_at)"
        " SELECT 'metrics-recount', date_bin('1 day', now(), '2000-01-01Z') + interval '1 day',"
        " now(), now() ON CONFLICT (name) DO UPDATE SET slot = EXCLUDED.slot"
    )


def ask_for_sums(connection: psycopg.Connection[tuple[object, ...]], hour: datetime) -> None:
    """Let the service make the sums over all AAs of an hour again, as it does after each hour."""
    connection.execute(
        "INSERT INTO metrics_stale (grain, aa_id, tag, at)"
        " SELECT DISTINCT 'hour', '', tag, %s::timestamptz FROM metrics_receipt",
        (hour,),
    )


def copy_packed(
    connection: psycopg.Connection[tuple[object, ...]], hour: datetime, at: datetime, grain: str
) -> None:
    """Let another hour, or a day, have the packed sums of this hour."""
    connection.execute(
        "INSERT INTO metrics_packed (aa_id, kind, grain, at, tag, type, version, sums)"
        " SELECT aa_id, kind, %s, %s, tag, type, gen_random_uuid(), sums FROM metrics_packed"
        " WHERE grain = 'hour' AND at = %s",
        (grain, at, hour),
    )
    if grain == "day":
        connection.execute(
            "INSERT INTO metrics_received (at, aa_id, tag, windows)"
            " SELECT DISTINCT %s::timestamptz, aa_id, tag, 144 FROM metrics_receipt",
            (at,),
        )


def copy_sums(
    connection: psycopg.Connection[tuple[object, ...]],
    hour: datetime,
    at: datetime,
    grain: str,
    aas: Sequence[str],
) -> None:
    """Let another hour, or a day, have the sums of this hour: packed, over all AAs, and of some."""
    connection.execute(
        f"INSERT INTO metrics_{grain} (at, aa_id, {_SUMS}) SELECT %s, aa_id, {_SUMS}"
        " FROM metrics_hour WHERE at = %s AND aa_id = ANY(%s)",
        (at, hour, ["", *aas]),
    )
    copy_packed(connection, hour, at, grain)
    if grain == "day":
        return
    connection.execute(
        "INSERT INTO metrics_receipt (receipt_id, aa_id, tag, window_at, version, txn_id,"
        " content_hash, received_at, blocks, findings) SELECT gen_random_uuid(), aa_id, tag,"
        " window_at - %(by)s, 1, txn_id, content_hash, received_at - %(by)s, blocks, findings"
        " FROM metrics_receipt WHERE window_at >= %(hour)s AND window_at < %(end)s",
        {"by": hour - at, "hour": hour, "end": hour + timedelta(hours=1)},
    )
