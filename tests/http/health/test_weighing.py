"""Status, percentage and 90-day bars weigh AAs: one of three reporters cannot turn a FIP."""

import contextlib
from typing import Any, NamedTuple

import msgspec
import pytest
from tests.support.members import new_member, onboard
from tests.support.metrics.metrics_push import PushingAa, pushing_aa
from tests.support.people.console import Reader
from tests.support.people.operators import Operator, new_operator
from tests.support.service import Service
from tests.support.until import until

from mudra.metrics.payload.catalogue import Position, RequestType
from mudra.metrics.payload.report import RequestBlock, RequestFip

PUBLIC = ("/status/v1/fips.json", "/status/network.json")
LOUD = 19_000
"""Calls that any AA may report without being held."""


class Report(NamedTuple):
    """What one AA says of a FIP's consents."""

    calls: int
    good: int
    p50: int = 90


class Case(NamedTuple):
    """The reports of some AAs, and what is shown."""

    reports: tuple[Report, ...]
    status: str
    success: float
    public: str = ""
    """What the public is shown, where that is another: one AA in one window makes no day bad."""


DEAD, WELL = Report(100, 0), Report(100, 99)
CASES = {
    "a liar upwards": Case((DEAD, DEAD, Report(LOUD, LOUD)), "BAD", 0.0),
    "a liar downwards": Case((WELL, WELL, Report(LOUD, 0)), "GOOD", 99.0),
    "a liar about times": Case((WELL, WELL, Report(LOUD, LOUD, 90_000)), "GOOD", 99.0),
    "two colluding of five": Case((DEAD,) * 3 + (Report(LOUD, LOUD),) * 2, "BAD", 0.0),
    "two of two who differ": Case((DEAD, Report(LOUD, LOUD)), "GOOD", 99.4),
    "all agree": Case((WELL, WELL, Report(1000, 980)), "GOOD", 98.2),
    "few calls outvote no one": Case(
        (Report(30, 30),) * 3 + (Report(900, 800),), "BAD", 89.9, "GOOD"
    ),
}


def block(said: Report) -> RequestBlock:
    counts = [0] * len(Position)
    counts[Position.TOTAL], counts[Position.OK_200] = said.calls, said.good
    counts[Position.INTERNAL_500] = said.calls - said.good
    times = (said.p50, said.p50 + 100, said.p50 + 200, said.p50 + 300)
    return RequestBlock(RequestType.CONSENT.value, times, tuple(counts))


def is_shown(service: Service, path: str) -> bool:
    return service.client().get(f"{service.root}{path}").is_success


def get(service: Service, path: str, **headers: str) -> Any:
    answer = service.client().get(f"{service.root}{path}", headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.fixture(scope="module")
def service(health_service: Service) -> Service:
    return health_service


@pytest.fixture(scope="module")
def reported(service: Service) -> dict[str, str]:
    """The FIP of each case, all of whose reports are in."""
    # As another test may have looked: for seconds this snapshot is shown.
    service.wait_until(lambda: all(is_shown(service, path) for path in PUBLIC))
    aas: list[PushingAa] = [pushing_aa(service) for _ in range(5)]
    fips = {case: onboard(service, "FIP", name=f"Bank of {case}")[0] for case in CASES}
    for place, aa in enumerate(aas):
        said = tuple(
            RequestFip(fips[name], (block(case.reports[place]),))
            for name, case in CASES.items()
            if place < len(case.reports)
        )
        answer = aa.push(msgspec.structs.replace(aa.requests(aa.last_window()), fips=said))
        assert (answer.status_code, "implausible" in answer.text) == (200, False)
    return fips


class Shown(NamedTuple):
    """What is shown of one FIP's consents."""

    status: str
    success: float | None


Files = dict[str, tuple[Shown | None, Shown | None]]
"""Of each case: what the list of FIPs and the last day of the network's file show, if anything."""


@pytest.fixture(scope="module")
def public(service: Service, reported: dict[str, str]) -> Files:
    """The public files, once they are as expected; as they are if that takes too long."""
    found: Files = {}

    def are_right() -> bool:
        rows, network = (get(service, path)["fips"] for path in PUBLIC)
        for case, fip_id in reported.items():
            found[case] = in_list(rows, fip_id), last_day(network, fip_id)
        return all(found[case] == expected(case) for case in CASES)

    # What was read before these reports knows nothing of the FIPs, or has some of the reports: it is
    # read again with the next window.
    service.advance("PT10M")
    with contextlib.suppress(AssertionError):
        service.wait_until(are_right)
    return found


def in_list(rows: list[dict[str, Any]], fip_id: str) -> Shown | None:
    own = [one for one in rows if (one["fip_id"], one["api"]) == (fip_id, "consent")]
    return Shown(own[0]["status"], own[0]["success_percentage"]) if own else None


def last_day(fips: list[dict[str, Any]], fip_id: str) -> Shown | None:
    days = [day for one in fips if one["fip_id"] == fip_id for day in one["days"]]
    last = [one for one in days if one["state"] != "no-data"][-1:]
    return Shown(last[0]["state"], last[0]["success_percentage"]) if last else None


def expected(case: str) -> tuple[tuple[str, Any], tuple[str, Any]]:
    share = pytest.approx(CASES[case].success, abs=0.1)
    status = CASES[case].public or CASES[case].status
    return (status, share), (status.lower(), share)


@pytest.mark.parametrize("case", CASES)
def test_the_public_status_shows_what_most_aas_see(public: Files, case: str) -> None:
    assert public[case] == expected(case)


def test_the_feed_shows_what_most_aas_see(service: Service, reported: dict[str, str]) -> None:
    fiu = new_member(service, "FIU")
    token = fiu.entity_token(fiu.secret()).json()["accessToken"]

    def said() -> dict[str, Any]:
        answer = get(service, "/metrics/perf/v1/feed", Authorization=f"Bearer {token}")
        fips = answer["data"]["fips"]
        return {case: fips[fip_id]["consent"] for case, fip_id in reported.items()}

    def is_evaluated() -> bool:
        """Whether all reports were: with the first of them alone states may be others."""
        return all(
            said()[case]["calls"] == sum(one.calls for one in CASES[case].reports)
            for case in ("all agree", "few calls outvote no one")
        )

    service.advance("PT16M")  # AAs of other tests do not report, and are waited for no longer
    service.wait_until(is_evaluated)
    shown = {case: one["success_percentage"] for case, one in said().items()}
    assert shown == {
        case: pytest.approx(expected.success, abs=0.1) for case, expected in CASES.items()
    }
    opposite = {"BAD": "GOOD", "GOOD": "BAD"}
    turned = [case for case, one in said().items() if one["status"] == opposite[CASES[case].status]]
    assert turned == []


class Staff(NamedTuple):
    """An operator at the API and in the console, and the statuses of each FIP in the list of all."""

    noc: Operator
    pages: Reader
    statuses: dict[str, set[str]]


@pytest.fixture(scope="module")
def staff(service: Service, reported: dict[str, str]) -> Staff:
    noc = new_operator(service)
    pages = Reader(noc.client, noc.root)
    pages.sign_in(noc.email)

    def of_all() -> dict[str, set[str]]:
        found = statuses(noc)
        return found if found.keys() >= set(reported.values()) else {}

    return Staff(noc, pages, until(of_all))


def statuses(noc: Operator, **query: str) -> dict[str, set[str]]:
    """By FIP, those of its APIs."""
    answer = noc.get("/health/fips", **query)
    assert answer.status_code == 200, answer.text
    rows = answer.json()["rows"]
    return {row["fipId"]: {api["status"] for api in row["apis"]} for row in rows}


@pytest.mark.parametrize("case", CASES)
def test_operators_see_what_most_aas_see(reported: dict[str, str], staff: Staff, case: str) -> None:
    fip_id, status = reported[case], CASES[case].status

    alone = statuses(staff.noc, fipId=fip_id)
    page = staff.pages.get(f"/console/operator/health/fip/{fip_id}").text

    assert staff.statuses[fip_id] == alone[fip_id] == {status}
    is_disputed = "liar" in case or "colluding" in case
    assert ("differently from most AAs" in page) is is_disputed
    assert is_disputed or status.lower() in page
