"""Response times of one window of a pair are as reported; those of any sum are estimates."""

import csv
import io
from datetime import datetime
from typing import Any, NamedTuple

import msgspec
import pytest
from tests.support.members import new_member
from tests.support.metrics.metrics_push import PushingAa, pushing_aa, sum_up
from tests.support.people.operators import Operator, new_operator
from tests.support.service import Service

from mudra.metrics.payload.catalogue import WINDOW, Position, RequestType
from mudra.metrics.payload.report import RequestBlock, RequestFip

CALLS = 200
TIMES = {"p50": 203, "p95": 407, "p99": 511, "p100": 713}
OTHERS = {"p50": 307, "p95": 613, "p99": 811, "p100": 1009}
PERCENTILES = ("p50", "p95", "p99")


class Reported(NamedTuple):
    """Two AAs that reported a window of a FIP, the first one the window before too."""

    aas: tuple[PushingAa, PushingAa]
    fip_id: str
    window: datetime
    noc: Operator

    def rows(self, path: str, start: datetime, **query: str) -> list[dict[str, Any]]:
        answer = self.noc.get(path, fipId=self.fip_id, **self.within(start), **query)
        assert answer.status_code == 200, answer.text
        rows: list[dict[str, Any]] = answer.json()["rows"]
        return rows

    def within(self, start: datetime) -> dict[str, str]:
        return {"from": start.isoformat(), "to": (self.window + WINDOW).isoformat()}


@pytest.fixture
def reported(service: Service) -> Reported:
    aas = (pushing_aa(service), pushing_aa(service))
    fip_id = new_member(service, "FIP").entity_id
    window = aas[0].last_window()
    push(aas[0], window, fip_id, TIMES)
    push(aas[0], window - WINDOW, fip_id, OTHERS)
    push(aas[1], window, fip_id, OTHERS)
    return Reported(aas, fip_id, window, new_operator(service, "health"))


def push(aa: PushingAa, window: datetime, fip_id: str, times: dict[str, int]) -> None:
    counts = [0] * len(Position)
    counts[Position.TOTAL] = counts[Position.OK_200] = CALLS
    pxx = (times["p50"], times["p95"], times["p99"], times["p100"])
    block = RequestBlock(RequestType.CONSENT.value, pxx, tuple(counts))
    fips = (RequestFip(fip_id, (block,)),)
    answer = aa.push(msgspec.structs.replace(aa.requests(window), fips=fips))
    assert answer.status_code == 200, answer.text


def as_reported(times: dict[str, int]) -> dict[str, Any]:
    exact = {name: dict.fromkeys(("estimate", "low", "high"), times[name]) for name in PERCENTILES}
    return {"samples": CALLS, "p100": times["p100"], **exact}


def assert_estimated(row: dict[str, Any], least: dict[str, int], most: dict[str, int]) -> None:
    (time,) = [api["time"] for api in row["apis"]]
    assert time["p100"] == most["p100"]
    for name in PERCENTILES:
        (estimate,) = time[name].values()
        assert time[name].keys() == {"estimate"}
        assert least[name] <= estimate <= most[name], name


@pytest.mark.parametrize("are_summed", [False, True], ids=["as pushed", "after sums were made"])
def test_one_window_of_a_pair_is_as_reported(
    service: Service, reported: Reported, *, are_summed: bool
) -> None:
    if are_summed:
        sum_up(service)

    rows = reported.rows("/health/pairs", reported.window)

    of_aas = {row["aaId"]: [api["time"] for api in row["apis"]] for row in rows}
    assert of_aas == {
        reported.aas[0].aa_id: [as_reported(TIMES)],
        reported.aas[1].aa_id: [as_reported(OTHERS)],
    }


def test_an_aa_reads_its_own_window_as_it_reported_it(service: Service, reported: Reported) -> None:
    aa = reported.aas[0]
    address = f"{service.root}/metrics/perf/v1/health"

    answer = aa.client.get(address, params=reported.within(reported.window), headers=aa.bearer)

    (row,) = answer.json()["rows"]
    assert [api["time"] for api in row["apis"]] == [as_reported(TIMES)]


def test_sums_of_windows_or_of_aas_are_estimates(reported: Reported) -> None:
    two_windows = reported.rows(
        "/health/pairs", reported.window - WINDOW, aaId=reported.aas[0].aa_id
    )
    (two_aas,) = reported.rows("/health/fips", reported.window)

    assert_estimated(two_windows[0], TIMES, OTHERS)
    assert_estimated(two_aas, TIMES, OTHERS)


def test_a_file_has_one_column_for_each_percentile(reported: Reported) -> None:
    answer = reported.noc.get(
        "/health/pairs",
        fipId=reported.fip_id,
        format="csv",
        **reported.within(reported.window),
    )

    rows = {row["aaId"]: row for row in csv.DictReader(io.StringIO(answer.text))}
    own = rows[reported.aas[0].aa_id]
    assert {name: int(own[name]) for name in TIMES} == TIMES
    assert {name for name in own if name.startswith("p")} == {*TIMES}
