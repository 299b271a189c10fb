"""mudra metrics export: rows equal to a plain recount, a file a day, whole or not there."""

import csv
import json
import re
import uuid
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace

import duckdb
import msgspec
import psycopg
import pytest
import sqlalchemy as sa
from tests.cli.metrics_commands import Opened, opened
from tests.storage.metrics.summed_store import DAY, HOUR, Truth
from tests.support.depth import with_every_change
from tests.support.metrics.metrics_payloads import notification_metrics, request_metrics

from mudra.jobs.metrics_jobs import settle_sums
from mudra.metrics.payload.catalogue import CALL_CODES, WINDOW, Position, StatusPosition
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.sums.plain_recount import PlainSums, plain_recount
from mudra.storage.database.migrations.daily_rows import fill
from mudra.storage.database.schema.roles import READER, as_role

AAS = ("aa-one", "aa-two")
PAGE = Path("docs/reference/metrics-tables.md").absolute()
SECOND = DAY + timedelta(days=1)
BEFORE = DAY.replace(year=DAY.year - 1)
STEPS = {
    "window": lambda at: at,
    "hour": lambda at: at.replace(minute=0),
    "day": lambda at: at.replace(hour=0, minute=0),
}


async def filled(store):
    """Two days of two AAs: what is settled, what is summed, and what is stale."""
    await store.empty()
    windows = [DAY, DAY + WINDOW, DAY + 5 * HOUR, SECOND, SECOND + 7 * WINDOW, SECOND + 8 * WINDOW]
    payloads = []
    for place, window in enumerate(windows):
        if place == 3:
            store.now = DAY + timedelta(days=10)
            await store.make_sums()
            await settle_sums(store.maintenance)
            store.now = SECOND + timedelta(days=2)
        if place == 4:
            await store.make_sums()
        for aa_id in AAS[: 1 if place == 5 else 2]:
            payloads += [
                request_metrics(40, aa_id, str(uuid.uuid4()), window, place + 1),
                notification_metrics(3, aa_id, str(uuid.uuid4()), window),
            ]
            payloads[-2] = large(payloads[-2])
            for payload in payloads[-2:]:
                await store.push(payload)
    return payloads


def large(payload):
    """The same with a size that 64 bits do not hold."""
    first, *others = payload.fips
    blocks = [
        msgspec.structs.replace(one, sum_of_size_of_data_packets="9" * 40)
        if one.type == "fif"
        else one
        for one in first.metrics
    ]
    return msgspec.structs.replace(
        payload, fips=(msgspec.structs.replace(first, metrics=tuple(blocks)), *others)
    )


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with opened(tmp_path_factory) as found:
        found.payloads = found.act(filled)
        yield found


async def pushed_the_year_before(store):
    """Two windows of two AAs at the same day of the year before, which is over."""
    now, store.now = store.now, BEFORE + timedelta(days=2)
    payloads = []
    for place, window in enumerate((BEFORE, BEFORE + timedelta(days=1))):
        for aa_id in AAS:
            payloads += [
                request_metrics(4, aa_id, str(uuid.uuid4()), window, place + 7),
                notification_metrics(3, aa_id, str(uuid.uuid4()), window),
            ]
            for payload in payloads[-2:]:
                await store.push(payload)
    store.now = now
    return payloads


def truth(store, grain, days=(DAY,)):
    """The sums of each time, AA, FIP, tag and type, by plain loops."""
    found = {}
    for tag, payloads in (
        ("requests", [one for one in store.payloads if "Request" in type(one).__name__]),
        ("notifications", [one for one in store.payloads if "Notif" in type(one).__name__]),
    ):
        for day in days:
            blocks = Truth(payloads, TimeRange(day, day + timedelta(days=1))).blocks
            sums = plain_recount(
                ((STEPS[grain](at), aa, fip, tag, code), block)
                for (at, aa, fip, code), block in blocks
            )
            assert not found.keys() & sums.keys()
            found |= sums
    return {(f"{at:%Y-%m-%dT%H:%M:%SZ}", *rest): sums for (at, *rest), sums in found.items()}


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def plain(row):
    return PlainSums(
        int(row["blocks"]),
        [int(row[one.name.lower()]) for one in Position],
        [int(row[f"session_{one.name.lower()}"]) for one in StatusPosition],
        int(row["data_bytes"]),
        int(row["p100"] or 0),
        int(row["late_lower"]),
        int(row["late_upper"]),
    )


def by_key(rows):
    keys = ("starts_at", "aa_id", "fip_id", "tag", "type")
    found = {tuple(row[key] for key in keys): plain(row) for row in rows}
    assert len(found) == len(rows)
    return found


@pytest.mark.parametrize("grain", with_every_change(["day"], ["window", "hour", "day"]))
def test_a_file_has_the_sums_of_a_plain_recount(store: Opened, tmp_path, grain) -> None:
    done = store.shown(
        *("export", "--from", "2026-03-04", "--to", "2026-03-05", "--grain", grain),
        *("--out", str(tmp_path)),
    )

    assert [Path(one["file"]).name for one in done] == [
        f"metrics-{grain}-2026-03-04.csv",
        f"metrics-{grain}-2026-03-05.csv",
    ]
    for one, day in zip(done, (DAY, SECOND), strict=True):
        rows = rows_of(Path(one["file"]))
        assert len(rows) == one["rows"]
        assert by_key(rows) == truth(store, grain, (day,))
        for row in rows:
            times = [int(row[name]) for name in ("p50", "p95", "p99", "p100") if row[name]]
            assert times == sorted(times)
            assert len(times) == (4 if row["tag"] == "requests" and row["total"] != "0" else 0)
            estimate = int(row["late_estimate"])
            assert int(row["late_lower"]) <= estimate <= int(row["late_upper"])
    assert {path.suffix for path in tmp_path.iterdir()} == {".csv"}


def test_one_aa_and_one_fip(store: Opened, tmp_path) -> None:
    ((done,)) = store.shown(
        *("export", "--from", "2026-03-05", "--aa", "aa-one", "--fip", "BANK-001"),
        *("--out", str(tmp_path)),
    )

    path = Path(done["file"])
    assert path.name == "metrics-day-2026-03-05-aa-one-BANK-001.csv"
    wanted = truth(store, "day", (SECOND,))
    assert by_key(rows_of(path)) == {
        key: sums for key, sums in wanted.items() if key[1:3] == ("aa-one", "BANK-001")
    }


@pytest.mark.slow
def test_a_run_goes_on_where_the_last_one_was_cut_short(store: Opened, tmp_path) -> None:
    asked = ("export", "--from", "2026-03-04", "--to", "2026-03-05", "--out", str(tmp_path))
    store.shown(*asked)
    first, second = sorted(tmp_path.iterdir())
    kept, whole = first.stat(), second.read_bytes()
    second.unlink()
    (tmp_path / f".{second.name}.rows").write_text("cut short")

    done = store.shown(*asked)
    again = store.shown(*asked, "--again")

    assert [one["rows"] is None for one in done] == [True, False]
    assert second.read_bytes() == whole
    assert [one["rows"] is None for one in again] == [False, False]
    assert first.stat().st_mtime_ns > kept.st_mtime_ns
    assert len(list(tmp_path.iterdir())) == 2


def test_parquet_is_read_by_the_line_of_the_reference(store: Opened, tmp_path, monkeypatch) -> None:
    folder = tmp_path / "exports"
    done = store.shown(
        *("export", "--from", "2026-03-04", "--to", "2026-03-05", "--format", "parquet"),
        *("--out", str(folder)),
    )
    (line,) = re.findall(
        r"^```python\n(duckdb\.sql.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL
    )
    monkeypatch.chdir(tmp_path)

    found = eval(line, {"duckdb": duckdb}).fetchall()  # of our own page

    wanted = truth(store, "day", (DAY, SECOND))
    by_fip = {}
    for (_, _, fip, tag, kind), sums in wanted.items():
        if tag == "requests" and kind not in {"sfireqnot", "ffireqnot"}:
            calls, ok, size = by_fip.get(fip, (0, 0, 0))
            by_fip[fip] = calls + sums.counts[0], ok + sums.counts[1], size + sums.data_bytes
    assert {fip: (calls, ok) for fip, calls, ok in found} == {
        fip: (calls, ok) for fip, (calls, ok, _) in by_fip.items()
    }
    sizes = duckdb.sql(f"SELECT data_bytes FROM '{folder}/*.parquet'").fetchall()
    assert sum(int(size) for (size,) in sizes) == sum(one.data_bytes for one in wanted.values())
    described = duckdb.sql(f"DESCRIBE SELECT * FROM '{done[0]['file']}'").fetchall()
    assert [(name, kind) for name, kind, *_ in described] == described_columns()


def test_a_year_is_one_file_that_one_line_reads(store: Opened, tmp_path, monkeypatch) -> None:
    """What a run that was cut short had written is not written again; the file is named last."""
    folder, payloads = tmp_path / "archive", store.act(pushed_the_year_before)
    year = ("export", "--year", str(BEFORE.year), "--out", str(folder))
    ((done,)) = store.shown(*year)
    (again,) = store.shown(*year)
    (line,) = re.findall(r"^```sh\n(duckdb -c .*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(tmp_path)
    asked = line.partition('"')[2].rpartition('"')[0].replace("2025", str(BEFORE.year))

    found = duckdb.sql(asked).fetchall()

    days = (BEFORE, BEFORE + timedelta(days=1))
    wanted = truth(SimpleNamespace(payloads=payloads), "day", days)
    by_month = {}
    for (at, _, fip, tag, code), sums in wanted.items():
        if tag == "requests" and code == "fif":
            total, ok = by_month.get((at[:7], fip), (0, 0))
            by_month[at[:7], fip] = total + sums.counts[0], ok + sums.counts[1]
    assert {(month, fip): (total, ok) for month, fip, total, ok in found} == by_month
    assert done["rows"] == len(wanted)
    assert again["skipped"]
    assert [path.name for path in folder.iterdir()] == [f"metrics-day-{BEFORE.year}.parquet"]
    described = duckdb.sql(f"DESCRIBE SELECT * FROM '{done['file']}'").fetchall()
    assert [(name, kind) for name, kind, *_ in described] == described_columns()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--year", "2099"), "2099 is not over: use --from and --to until it is"),
        (("--year", "2019"), "nothing of 2019 is stored"),
        (("--year", "2026", "--grain", "hour"), "--year takes no --from, --to and --grain"),
        (("--year", "2026", "--out", "x.csv"), "--out ends in .csv, and --format is parquet"),
        ((), "name --from, or --year"),
    ],
)
def test_years_that_cannot_be_exported_are_named(store: Opened, tmp_path, words, says) -> None:
    done = store.run("export", *(() if "--out" in words else ("--out", str(tmp_path))), *words)

    assert done.exit_code == 2
    assert says in done.stderr
    assert list(tmp_path.iterdir()) == []


def described_columns():
    """The columns of the reference, with their types in Parquet."""
    rows = [line.split("|") for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    table = [(row[1].strip().strip("`"), row[2].strip()) for row in rows]
    start = [name for name, _ in table].index("starts_at")
    end = [name for name, _ in table].index("p100")
    return table[start : end + 1]


def test_an_option_that_contradicts_another_is_named(store: Opened) -> None:
    done = store.run("export", "--from", "2026-03-04", "--format", "parquet", "--out", "x.csv")

    assert done.exit_code == 2
    assert "--out ends in .csv, and --format is parquet: make them agree" in done.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--from", "2099-01-01"), "2099-01-01 is not over: --to may be 20"),
        (("--from", "2026-03-04", "--to", "2026-03-03"), "--to must be 2026-03-04 or one of"),
    ],
)
def test_days_that_cannot_be_exported_are_named(store: Opened, tmp_path, words, says) -> None:
    done = store.run("export", *words, "--out", str(tmp_path))

    assert done.exit_code == 2
    assert says in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_block_ends_an_export_and_leaves_no_file(store: Opened, tmp_path) -> None:
    changed = {"grain": "day", "aa_id": "aa-one", "tag": "not"}
    store.damage(**changed)
    try:
        done = store.run("export", "--from", "2026-03-04", "--out", str(tmp_path))
    finally:
        remade = store.run("remake", "--damaged")

    assert done.exit_code == 1
    assert "the day block of aa-one at 2026-03-0" in done.stderr
    assert "run mudra metrics remake --damaged" in done.stderr
    assert list(tmp_path.iterdir()) == []
    assert remade.exit_code == 0, remade.stdout + remade.stderr


def test_metrics_daily_has_what_all_aas_sent(store: Opened) -> None:
    rows = store.connection.execute(
        "SELECT fip_id, type, total, succeeded, errors_4xx, errors_5xx FROM metrics_daily"
        " WHERE day = '2026-03-04'"
    ).fetchall()

    wanted = {}
    for (_, _, fip, tag, code), sums in truth(store, "day").items():
        if tag == "requests":
            counts = sums.counts
            row = counts[0], counts[1], sum(counts[2:10]), sum(counts[10:])
            before = wanted.get((fip, code), (0,) * 4)
            wanted[fip, code] = tuple(map(sum, zip(before, row, strict=True)))
    assert {(fip, code): tuple(map(Decimal, row)) for (fip, code), row in wanted.items()} == {
        (fip, code): tuple(row) for fip, code, *row in rows
    }
    (times,) = store.connection.execute(
        "SELECT count(*) FROM metrics_daily WHERE NOT (p50 <= p95 AND p95 <= p99)"
    ).fetchall()
    assert times == (0,)


def test_the_upgrade_fills_the_days_that_are_there(store: Opened) -> None:
    """As its revision does, with blocks that came before it."""
    every = "SELECT * FROM metrics_daily ORDER BY day, fip_id, type"
    before = store.connection.execute(every).fetchall()
    store.connection.execute("DELETE FROM metrics_daily")
    engine = sa.create_engine(
        "postgresql+psycopg://", creator=lambda: psycopg.connect(store.connection.info.dsn)
    )

    with engine.begin() as connection:
        fill(connection)
    engine.dispose()

    assert before
    assert store.connection.execute(every).fetchall() == before


@pytest.mark.slow
def test_each_query_of_the_dashboard_is_answered_to_the_reader(store: Opened) -> None:
    """As Grafana sends them: with its macros written out, for the days and FIPs of its page."""
    store.act(lambda opened: opened.make_sums())
    shown = json.loads(Path("deploy/grafana/network-days.json").read_text())
    fips = store.connection.execute(asked(shown["templating"]["list"][1]["query"])).fetchall()
    found = {}
    with psycopg.connect(as_role(store.connection.info.dsn, READER)) as reader:
        for panel in shown["panels"]:
            (target,) = panel["targets"]
            cursor = reader.execute(asked(target["rawSql"]))
            found[panel["title"]] = cursor.fetchall()
            names = [column.name for column in cursor.description or ()]
            assert (names[0] == "time") == (target["format"] == "time_series"), panel["title"]

    wanted = truth(store, "day", (DAY, SECOND))
    calls = [
        sums.counts
        for (_, _, _, tag, code), sums in wanted.items()
        if tag == "requests" and code in CALL_CODES
    ]
    total, ok = sum(one[0] for one in calls), sum(one[1] for one in calls)
    eligible = total - sum(sum(one[2:10]) for one in calls)
    assert found["Calls"] == [(total,)]
    assert float(found["Success, 4xx left out"][0][0]) == pytest.approx(ok / eligible)
    assert all(found.values())
    assert fips == []  # of the last 90 days


def asked(sql):
    days = "day BETWEEN '2026-03-04T00:00:00Z' AND '2026-03-05T23:59:59Z'"
    of_fips = "SELECT fip_id FROM metrics_daily"
    return sql.replace("$__timeFilter(day)", days).replace("${fip:sqlstring}", of_fips).encode()
