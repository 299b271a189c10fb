"""Status, percentage and 90-day bars weigh AAs: one of three reporters cannot turn a FIP."""

from typing import Any, NamedTuple

import httpx
import msgspec
import pytest
from tests.support.metrics.metrics_push import PushingAa, pushing_aa
from tests.support.people.console import Reader
from tests.support.people.operators import Operator, new_operator
from tests.support.service import NO_TLS, Service, new_member, onboard

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


DEAD, WELL = Report(100, 0), Report(100, 99)
CASES = {
    "a liar upwards": Case((DEAD, DEAD, Report(LOUD, LOUD)), "BAD", 0.0),
    "a liar downwards": Case((WELL, WELL, Report(LOUD, 0)), "GOOD", 99.0),
    "a liar about times": Case((WELL, WELL, Report(LOUD, LOUD, 90_000)), "GOOD", 99.0),
    "two colluding of five": Case((DEAD,) * 3 + (Report(LOUD, LOUD),) * 2, "BAD", 0.0),
    "two of two who differ": Case((DEAD, Report(LOUD, LOUD)), "GOOD", 99.4),
    "all agree": Case((WELL, WELL, Report(1000, 980)), "GOOD", 98.1),
    "few calls outvote no one": Case((Report(30, 30),) * 3 + (Report(900, 800),), "BAD", 89.8),
}


def block(said: Report) -> RequestBlock:
    counts = [0] * len(Position)
    counts[Position.TOTAL], counts[Position.OK_200] = said.calls, said.good
    counts[Position.INTERNAL_500] = said.calls - said.good
    times = (said.p50, said.p50 + 100, said.p50 + 200, said.p50 + 300)
    return RequestBlock(RequestType.CONSENT.value, times, tuple(counts))


def is_shown(service: Service, path: str) -> bool:
    return httpx.get(f"{service.root}{path}", timeout=20, verify=NO_TLS).is_success


def get(service: Service, path: str, **headers: str) -> Any:
    answer = httpx.get(f"{service.root}{path}", timeout=20, verify=NO_TLS, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


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


@pytest.mark.parametrize("case", CASES)
def test_the_public_status_shows_what_most_aas_see(
    service: Service, reported: dict[str, str], case: str
) -> None:
    fip_id, expected = reported[case], CASES[case]

    # A snapshot of before these reports knows nothing of this FIP.
    def shown() -> tuple[str, float | None] | None:
        rows = get(service, PUBLIC[0])["fips"]
        own = [one for one in rows if (one["fip_id"], one["api"]) == (fip_id, "consent")]
        return (own[0]["status"], own[0]["success_percentage"]) if own else None

    def day() -> tuple[str, float | None] | None:
        fips = get(service, PUBLIC[1])["fips"]
        days = [day for one in fips if one["fip_id"] == fip_id for day in one["days"]]
        last = [one for one in days if one["state"] != "no-data"][-1:]
        return (last[0]["state"], last[0]["success_percentage"]) if last else None

    # A snapshot that was made between two reports has the first of them alone.
    share = pytest.approx(expected.success, abs=0.1)
    service.wait_until(lambda: shown() == (expected.status, share), 60, show=shown)
    state = {"GOOD": "good", "BAD": "bad"}[expected.status]
    service.wait_until(lambda: day() == (state, share), 60, show=day)


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
    service.wait_until(is_evaluated, 60)
    shown = {case: one["success_percentage"] for case, one in said().items()}
    assert shown == {
        case: pytest.approx(expected.success, abs=0.1) for case, expected in CASES.items()
    }
    opposite = {"BAD": "GOOD", "GOOD": "BAD"}
    turned = [case for case, one in said().items() if one["status"] == opposite[CASES[case].status]]
    assert turned == []


@pytest.fixture(scope="module")
def staff(service: Service) -> tuple[Operator, Reader]:
    """An operator at the API and in the console."""
    noc = new_operator(service)
    pages = Reader(noc.client, noc.root)
    pages.sign_in(noc.email)
    return noc, pages


@pytest.mark.parametrize("case", CASES)
def test_operators_see_what_most_aas_see(
    service: Service, reported: dict[str, str], staff: tuple[Operator, Reader], case: str
) -> None:
    fip_id, expected = reported[case], CASES[case]
    noc, pages = staff

    def statuses(**query: str) -> set[str]:
        answer = noc.get("/health/fips", **query)
        assert answer.status_code == 200, answer.text
        rows = [row for row in answer.json()["rows"] if row["fipId"] == fip_id]
        return {api["status"] for row in rows for api in row["apis"]}

    service.wait_until(lambda: statuses() != set(), 60)
    assert statuses() == statuses(fipId=fip_id) == {expected.status}
    page = pages.get(f"/console/operator/health/fip/{fip_id}").text
    is_disputed = "liar" in case or "colluding" in case
    assert ("The status is what most AAs see" in page) is is_disputed
    assert is_disputed or expected.status.lower() in page
