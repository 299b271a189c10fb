"""Rows of all pairs of a large network are refused; those of one AA or FIP, and by AA, are not."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import msgspec
import pytest
from tests.http.health.service_in_process import service_in_process
from tests.support.metrics.metrics_payloads import request_block
from tests.support.metrics.metrics_push import PushingAa, pushing_aa, receive_at_once, sum_up
from tests.support.people.operators import Operator, new_operator
from tests.support.service import Service

from mudra.metrics.payload.catalogue import WINDOW, RequestType
from mudra.metrics.payload.report import RequestFip

MAX_PAIRS = 4_000

AAS = 3
FIPS = MAX_PAIRS // AAS + 1
A_DAY = timedelta(days=1)
REFUSED = f"is required: more than {MAX_PAIRS:,} pairs of AA and FIP reported in this time"


class Large(NamedTuple):
    """AAs that called very many FIPs in a window two days ago, and two FIPs the day before."""

    service: Service
    aas: list[PushingAa]
    noc: Operator
    begin: datetime

    @property
    def then(self) -> dict[str, str]:
        """The window with very many."""
        return _window(self.begin)

    @property
    def day_before(self) -> dict[str, str]:
        """The window with few."""
        return _window(self.begin - A_DAY)

    def asked(self, grouping: str, **query: str) -> Any:
        answer = self.noc.get(f"/health/{grouping}", **query)
        assert answer.status_code == 200, answer.text
        return answer.json()["rows"]


def _window(begin: datetime) -> dict[str, str]:
    return {"from": begin.isoformat(), "to": (begin + WINDOW).isoformat()}


def of_one_api(aa: PushingAa, window: datetime, fips: int) -> Any:
    """A payload of many FIPs, one API and one call each: more would be held as implausible."""
    once = msgspec.structs.replace(request_block(RequestType.CONSENT), counts=(1, 1, *[0] * 13))
    named = tuple(RequestFip(f"BANK-{place:03}", (once,)) for place in range(fips))
    return msgspec.structs.replace(aa.requests(window, fips=0), fips=named)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Large]:
    with service_in_process(
        tmp_path_factory.mktemp("large") / "data",
        MUDRA_METRICS_PUSH_UNKNOWN_FIPS="100000",
    ) as service:
        yield reported(service)


def reported(service: Service) -> Large:
    aas = [pushing_aa(service) for _ in range(AAS)]
    begin = (aas[0].last_window() - 2 * A_DAY).replace(minute=0)
    found = Large(service, aas, new_operator(service, "health"), begin)
    windows = ((begin, FIPS), (begin - A_DAY, 2))
    receive_at_once(service, [of_one_api(aa, *window) for aa in aas for window in windows])
    sum_up(service)
    return found


def test_all_pairs_of_a_large_network_are_refused_with_the_fields_that_narrow_them(
    large: Large,
) -> None:
    for format_ in ("json", "csv"):
        answer = large.noc.get("/health/pairs", format=format_, **large.then)

        assert answer.status_code == 400
        assert answer.json()["errorCode"] == "InvalidRequest"
        assert f"aaId or fipId {REFUSED}" in answer.json()["errorMsg"]


def test_pairs_of_one_aa_or_of_one_fip_are_shown(large: Large) -> None:
    first = large.aas[0].aa_id

    of_aa = large.asked("pairs", aaId=first, **large.then)
    of_fip = large.asked("pairs", fipId="BANK-001", **large.then)

    assert len(of_aa) == FIPS
    assert {row["aaId"] for row in of_fip} == {aa.aa_id for aa in large.aas}


def test_pairs_of_a_day_with_few_are_shown(large: Large) -> None:
    rows = large.asked("pairs", **large.day_before)

    assert len([row for row in rows if row["aaId"] in {aa.aa_id for aa in large.aas}]) == 2 * AAS


def test_rows_by_aa_are_those_of_its_pairs(large: Large) -> None:
    rows = {row["aaId"]: row for row in large.asked("aas", **large.then)}

    for aa in large.aas:
        pairs = large.asked("pairs", aaId=aa.aa_id, **large.then)
        (api,) = rows[aa.aa_id]["apis"]
        for name in ("requests", "succeeded", "judged"):
            assert api[name] == sum(row["apis"][0][name] for row in pairs)
        assert rows[aa.aa_id]["fipId"] == ""
        assert large.asked("aas", aaId=aa.aa_id, **large.then) == [rows[aa.aa_id]]


def test_the_command_names_its_options(large: Large) -> None:
    within = large.then
    span = ("--from", within["from"], "--to", within["to"])

    refused = large.service.cli("health", "picture", "pairs", *span, check=False)
    shown = large.service.cli("health", "picture", "pairs", "--fip", "BANK-001", "--csv", *span)

    assert (refused.exit_code, f"--aa or --fip {REFUSED}" in refused.stderr) == (2, True)
    assert large.aas[0].aa_id in shown.stdout
