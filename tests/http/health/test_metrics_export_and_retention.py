"""Figures for an operator's own dashboards, the floor under small counts, what is dropped in time."""

import json
import re
import socket
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import httpx2
import msgspec
import psycopg
import pyrage
import pytest
from tests.http.public_status import open_data
from tests.support.depth import with_every_change
from tests.support.members import new_member
from tests.support.metrics.metrics_push import PushingAa, pushing_aa
from tests.support.people.console import reader
from tests.support.people.operators import new_operator
from tests.support.process import running_service
from tests.support.service import Service
from tests.support.until import PATIENCE_S

from mudra.bootstrap.dependencies import Dependencies
from mudra.jobs.metrics_jobs import drop_old_metrics, refresh_rollups
from mudra.jobs.recount import recount_days
from mudra.metrics.payload.catalogue import Position, RequestType
from mudra.metrics.payload.report import RequestBlock, RequestFip
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.retention import RetentionPolicy
from mudra.shared.unavailable import DatabaseUnavailable
from mudra.storage.database.embedded.server import embedded_server

RECOUNTED_DAYS = 8

DASHBOARD = (Path(__file__).parents[3] / "deploy/grafana/network-health.json").read_text()
OPEN_METRICS = "application/openmetrics-text; version=1.0.0"


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = str(held.getsockname()[1])
    data_dir = tmp_path_factory.mktemp("kept") / "data"
    recipient = str(pyrage.x25519.Identity.generate().to_public())
    with running_service(
        data_dir,
        keeps_store=True,
        MUDRA_TELEMETRY_PORT=port,
        MUDRA_BACKUP_RECIPIENTS=recipient,
    ) as service:
        yield service


@pytest.fixture
def aa(own: Service) -> PushingAa:
    return pushing_aa(own)


def consents(fip_id: str, calls: int, succeeded: int) -> RequestFip:
    counts = [0] * len(Position)
    counts[Position.TOTAL], counts[Position.OK_200] = calls, succeeded
    counts[Position.INTERNAL_500] = calls - succeeded
    block = RequestBlock(RequestType.CONSENT.value, (90, 200, 300, 400), tuple(counts))
    return RequestFip(fip_id, (block,))


def push(aa: PushingAa, *fips: RequestFip) -> None:
    answer = aa.push(msgspec.structs.replace(aa.requests(), fips=fips))
    assert answer.status_code == 200, answer.text


def figures(own: Service, accept: str = "*/*") -> httpx2.Response:
    address = f"http://127.0.0.1:{own.environment['MUDRA_TELEMETRY_PORT']}/metrics"
    return httpx2.get(address, headers={"Accept": accept})


def sample(text: str, name: str, **labels: str) -> float | None:
    """The value of a sample, None where there is none."""
    for line in text.splitlines():
        found = re.fullmatch(rf"{name}\{{(?P<labels>.*)\}} (?P<value>\S+)", line)
        if found and dict(re.findall(r'(\w+)="([^"]*)"', found["labels"])) == labels:
            return float(found["value"])
    return None


def test_a_database_without_standbys_has_no_faults_of_standbys(own):
    own.wait_until(lambda: "mudra_standby_faults 0.0" in figures(own).text)
    assert "mudra_standbys 0.0" in figures(own).text


def test_a_first_backup_that_never_comes_has_an_age(own):
    def age() -> float | None:
        found = re.search(r"^mudra_backup_age_seconds (\S+)$", figures(own).text, re.MULTILINE)
        return float(found[1]) if found else None

    own.wait_until(lambda: age() is not None)
    assert 0 <= age() < 600


def test_prometheus_and_openmetrics_show_the_last_window_and_forget_it_afterwards(own, aa):
    own.advance("PT1H")
    fip_id = new_member(own, "FIP").entity_id
    push(aa, consents(fip_id, 200, 150), consents("BANK-MADE-UP", 200, 150))
    own.advance("PT1S")
    labels = {"fip": fip_id, "api": "cns"}

    def success() -> float | None:
        return sample(figures(own).text, "mudra_fip_api_success_ratio", **labels)

    own.wait_until(lambda: success() == 0.75)
    plain, open_metrics = figures(own), figures(own, OPEN_METRICS)

    assert plain.headers["content-type"].startswith("text/plain")
    assert open_metrics.headers["content-type"].startswith("application/openmetrics-text")
    assert open_metrics.text.endswith("# EOF\n")
    for answer in (plain, open_metrics):
        assert sample(answer.text, "mudra_fip_api_requests", **labels) == 200
        # Of sums: the cell of 90 ms is 1/8 wide.
        p50 = sample(answer.text, "mudra_fip_api_p50_seconds", **labels)
        assert p50 == pytest.approx(0.09, rel=1 / 8)
        assert aa.aa_id not in answer.text
        assert "BANK-MADE-UP" not in answer.text
    own.advance("PT10M")
    own.wait_until(lambda: success() != 0.75)
    assert success() is None


def test_every_answered_request_is_counted_once_in_its_bucket(own):
    path = "/operator/v1/board"
    named = {"path": path, "method": "GET", "status": "401"}

    def counted() -> float:
        return sample(figures(own).text, "mudra_requests_total", **named) or 0

    before = counted()
    for _ in range(7):
        assert httpx2.get(f"{own.root}{path}").status_code == 401

    own.wait_until(lambda: counted() == before + 7)
    text = figures(own).text
    assert sample(text, "mudra_request_seconds_count", path=path) == before + 7
    assert sample(text, "mudra_request_seconds_bucket", path=path, le="+Inf") == before + 7
    bounds = re.findall(r'mudra_request_seconds_bucket\{.*le="([0-9.]+)".*\}', text)
    heights = [
        sample(text, "mudra_request_seconds_bucket", path=path, le=bound)
        for bound in sorted(set(bounds), key=float)
    ]
    assert heights == sorted(heights)
    total = sample(text, "mudra_request_seconds_sum", path=path)
    assert total


def test_a_fault_behind_a_page_s_head_is_counted_as_the_500_that_it_is(own, aa):
    browser, path = reader(own), f"/console/entity/{aa.aa_id}/health"
    assert browser.sign_in(f"asha-{aa.aa_id.split('-')[1]}@member.example").status_code == 303
    unreadable = (
        "INSERT INTO metrics_refused (aa_id, at, total, findings)"
        " VALUES (%s, now() + interval '9 years', 1, '[{}]')"
    )
    with embedded_server(own.data_dir) as conninfo, psycopg.connect(conninfo) as connection:
        connection.execute(unreadable, [aa.aa_id])

    assert browser.get(path).status_code == 200

    def counted(status: str) -> float | None:
        route = "/console/entity/{entity_id}/health"
        named = {"path": route, "method": "GET", "status": status}
        return sample(figures(own).text, "mudra_requests_total", **named)

    own.wait_until(lambda: counted("500") == 1)
    assert counted("200") is None


def test_every_expression_of_the_dashboard_asks_for_figures_that_are_there(own, aa):
    own.advance("PT1H")
    fip_id = new_member(own, "FIP").entity_id
    push(aa, consents(fip_id, 200, 150))
    own.advance("PT1S")
    labels = {"fip": fip_id, "api": "cns"}
    own.wait_until(lambda: sample(figures(own).text, "mudra_fip_api_requests", **labels) == 200)
    shown = re.findall(r"(?m)^(mudra_\w+)(?:\{(.*)\})? \S+$", figures(own).text)
    samples = [(name, dict(re.findall(r'(\w+)="([^"]*)"', reported))) for name, reported in shown]

    asked = re.findall(r'"(?:expr|query)": ("(?:[^"\\]|\\.)*mudra_(?:[^"\\]|\\.)*")', DASHBOARD)

    assert len(asked) == 9
    for expression in map(json.loads, asked):
        (named,) = re.findall(r"(mudra_\w+)(?:\{(.*?)\})?", expression)
        grouped = re.findall(r"by \((\w+)\)|label_values\(.*, (\w+)\)", expression)
        assert any(answers(sample, *named, grouped) for sample in samples), expression


def answers(sample, name, matchers, grouped):
    """Whether this sample is one of those that a selector takes, with the labels asked for."""
    own_name, labels = sample
    taken = own_name == name and {label for pair in grouped for label in pair if label} <= set(
        labels
    )
    for label, operation, value in re.findall(r'(\w+)(=~|=)"(.*?)"', matchers):
        pattern = value.replace("$fip", ".*") if operation == "=~" else re.escape(value)
        taken = taken and label in labels and re.fullmatch(pattern, labels[label]) is not None
    return taken


def test_the_public_sees_nothing_of_fewer_than_a_hundred_calls(own, aa):
    few, enough = (new_member(own, "FIP").entity_id for _ in range(2))
    own.advance("PT1H")
    push(aa, consents(few, 99, 99), consents(enough, 100, 99))

    def reported(fip_id: str) -> dict[str, object]:
        rows = open_data(own, "/status/v1/fips.json")["fips"]
        return next(
            ({**row} for row in rows if (row["fip_id"], row["api"]) == (fip_id, "consent")), {}
        )

    own.wait_until(lambda: reported(enough).get("requests") == 100)

    assert (reported(enough)["status"], reported(enough)["success_percentage"]) == ("GOOD", 99.0)
    shown = reported(few)
    assert shown.pop("status") == "UNSURE"
    assert (shown.pop("fip_id"), shown.pop("api")) == (few, "consent")
    assert shown.pop("too_few_calls") is True
    assert set(shown.values()) == {None}


@pytest.mark.parametrize(
    "days",
    with_every_change([RECOUNTED_DAYS], [RECOUNTED_DAYS, 9]),
    ids=["every night", "a day too many"],
)
def test_a_recount_leaves_sums_whose_reports_retention_has_dropped(own, aa, days):
    fip_id = f"BANK-{aa.aa_id}"
    own.advance("PT1H")
    window = aa.last_window()
    push(aa, consents(fip_id, 200, 100))
    own.advance("PT25H")  # of a whole day without reports no window is judged
    day = window.replace(hour=0, minute=0)
    within = TimeRange(day, day + timedelta(days=1))

    async def requests(dependencies: Dependencies) -> int:
        async with dependencies.metrics_maintenance(within_s=60.0) as work:
            totals = await work.health.rollups.over_aas(within, fip_id=fip_id)
        return sum(sums.counts[Position.TOTAL] for sums in totals.rows())

    async def sum_up(dependencies: Dependencies) -> None:
        await refresh_rollups(dependencies.metrics_maintenance)

    async def work_at_night(dependencies: Dependencies) -> None:
        await drop_old_metrics(dependencies.metrics_maintenance, RetentionPolicy(8, 400))
        await recount_days(dependencies.metrics_maintenance, days)
        await refresh_rollups(dependencies.metrics_maintenance)

    reports = f"metrics_block_window_{window:%Y%m%d}"

    own.in_store(sum_up)
    assert own.in_store(requests) == 200
    assert reports in stored_partitions(own)
    today = own.advance("PT0S").replace(hour=0, minute=0, second=0, microsecond=0)
    own.advance(f"P{9 - (today - day).days}D")

    own.wait_until(lambda: is_done(own, work_at_night))
    assert reports not in stored_partitions(own)
    assert own.in_store(requests) == 200


def test_what_is_too_old_is_dropped_by_partition_and_days_stay(own, aa):
    noc = new_operator(own, "health")
    own.advance("PT1H")
    window = aa.last_window()
    push(aa, consents("BANK-OLD", 200, 100))
    push(aa, consents("BANK-OLD", 300, 240))  # replaces it; the former version is kept
    own.advance("PT25H")  # so that its day is over and summed up
    day = window.replace(hour=0, minute=0)
    asked = {"from": day.isoformat(), "to": (day + timedelta(days=1)).isoformat()}

    def requests() -> int | None:
        rows = noc.get("/health/fips", fipId="BANK-OLD", **asked).json()["rows"]
        return rows[0]["apis"][0]["requests"] if rows else None

    async def make_and_drop(dependencies: Dependencies) -> None:
        await refresh_rollups(dependencies.metrics_maintenance)
        settings = dependencies.settings
        policy = RetentionPolicy(settings.metrics_raw_days, settings.metrics_hour_days)
        await drop_old_metrics(dependencies.metrics_maintenance, policy)

    def left() -> set[str]:
        """Which partitions there are afterwards: the service's own jobs may drop some before."""
        own.wait_until(lambda: is_done(own, make_and_drop))
        return stored_partitions(own)

    reports = f"metrics_block_window_{window:%Y%m%d}"
    previous, hours = f"metrics_block_previous_{window:%Y%m%d}", f"metrics_block_hour_{window:%Y%m}"
    assert requests() == 300
    assert {reports, previous, hours} <= left()
    own.advance("P92D")

    assert {reports, previous, hours} & left() == {hours}
    assert requests() == 300
    own.advance("P330D")
    assert hours not in left()


def is_done(own: Service, act: Callable[[Dependencies], Awaitable[object]]) -> bool:
    """Do this as the job does: where a transaction holds the tables it ends, and comes again."""
    try:
        own.in_store(act)
    except DatabaseUnavailable:
        return False
    return True


def stored_partitions(own: Service) -> set[str]:
    with embedded_server(own.data_dir) as conninfo, psycopg.connect(conninfo) as connection:
        return partitions(connection)


def partitions(connection: psycopg.Connection) -> set[str]:
    rows = connection.execute("SELECT relname FROM pg_class WHERE relispartition").fetchall()
    return {name for (name,) in rows}


DELETING = "query LIKE 'DELETE FROM metrics_receipt%' AND wait_event_type = 'Lock'"
LOCKED_OUT = (
    "SELECT l.relation::regclass::text FROM pg_locks l JOIN pg_stat_activity a USING (pid)"
    f" WHERE a.{DELETING} AND l.mode = 'AccessExclusiveLock' AND l.locktype = 'relation'"
)


def test_a_push_is_answered_while_retention_deletes(own, aa):
    own.advance("PT1H")
    window = aa.last_window()
    days = (window - timedelta(days=1), window)
    for start in days:
        assert aa.push(aa.requests(start)).status_code == 200
    own.advance("P10D")
    pushing = pushing_aa(own)

    async def drop(dependencies: Dependencies) -> None:
        await drop_old_metrics(dependencies.metrics_maintenance, RetentionPolicy(8, 8))

    with (
        ThreadPoolExecutor() as pool,
        embedded_server(own.data_dir) as conninfo,
        psycopg.connect(conninfo, autocommit=True) as watching,
        psycopg.connect(conninfo) as holding,
    ):
        tables = {f"metrics_block_window_{at:%Y%m%d}" for at in days} & partitions(watching)
        holding.execute("SELECT FROM metrics_receipt WHERE aa_id = %s FOR UPDATE", [aa.aa_id])
        first = pool.submit(is_done, own, drop)
        waits = f"SELECT 1 FROM pg_stat_activity WHERE {DELETING}".encode()
        own.wait_until(lambda: watching.execute(waits).fetchone() is not None)
        locked_out = watching.execute(LOCKED_OUT.encode()).fetchall()
        answer = pushing.push(pushing.requests())
        holding.rollback()
        own.wait_until(lambda: first.result(PATIENCE_S) or is_done(own, drop))
        still_there = tables & partitions(watching)
        left = watching.execute(
            "SELECT count(*) FROM metrics_receipt WHERE aa_id = %s", [aa.aa_id]
        ).fetchone()

    assert locked_out == []
    assert answer.status_code == 200, answer.text
    assert len(tables) == 2
    assert still_there == set()
    assert left == (0,)
