"""The last hour is the same from reports and from sums; a range within hours is exact."""

import re
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

import msgspec
import pytest
from tests.support.members import Member, new_member
from tests.support.metrics.metrics_push import PushingAa, pushing_aa, sum_up
from tests.support.people.console import reader
from tests.support.people.operators import Operator, new_operator
from tests.support.service import Service

from mudra.metrics.payload.catalogue import WINDOW, Position, RequestType
from mudra.metrics.payload.report import RequestBlock, RequestFip

HOUR = timedelta(hours=1)
INDIA = ZoneInfo("Asia/Kolkata")
MINUTES_3 = timedelta(minutes=3)
INSTANT = "%Y-%m-%dT%H:%M:%SZ"
CONSENT, LINK = RequestType.CONSENT.value, RequestType.ACCOUNT_LINK.value


class Said(NamedTuple):
    """What an AA says of each of two APIs of the FIP."""

    calls: int
    good: int


class Reporting(NamedTuple):
    """Three AAs that report one FIP, and an operator who looks at the last hour."""

    service: Service
    aas: list[PushingAa]
    fip: Member
    noc: Operator
    end: datetime

    def push(self, aa: PushingAa, window: datetime, said: Said) -> Any:
        counts = [0] * len(Position)
        counts[Position.TOTAL], counts[Position.OK_200] = said
        counts[Position.INTERNAL_500] = said.calls - said.good
        times = (200, 400, 500, 700)
        blocks = tuple(RequestBlock(code, times, tuple(counts)) for code in (CONSENT, LINK))
        fips = (RequestFip(self.fip.entity_id, blocks),)
        answer = aa.push(msgspec.structs.replace(aa.requests(window), fips=fips))
        assert answer.status_code == 200, answer.text
        return answer.json()

    def asked(self, path: str, **query: str) -> Any:
        within = {"from": (self.end - HOUR).isoformat(), "to": self.end.isoformat()}
        answer = self.noc.get(path, **within, **query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def consents(self) -> tuple[int, int, str]:
        """Over all AAs: calls, good ones, and the status."""
        (row,) = self.asked("/health/fips", fipId=self.fip.entity_id)["rows"]
        (api,) = [one for one in row["apis"] if one["type"] == CONSENT]
        return api["requests"], api["succeeded"], api["status"]

    def own(self) -> list[tuple[int, int]]:
        """The calls of one API as each AA reads them itself."""
        within = {"from": (self.end - HOUR).isoformat(), "to": self.end.isoformat()}
        found = []
        for aa in self.aas:
            address = f"{self.service.root}/metrics/perf/v1/health"
            answer = aa.client.get(address, params=within, headers=aa.bearer)
            assert answer.status_code == 200, answer.text
            (row,) = answer.json()["rows"]
            (api,) = [one for one in row["apis"] if one["type"] == CONSENT]
            found.append((api["requests"], api["succeeded"]))
        return found

    def pairs(self) -> dict[str, tuple[int, int]]:
        """By AA, of one API."""
        cells = self.asked("/health/matrix", type=LINK)["cells"]
        return {
            one["aaId"]: (one["judged"], one["succeeded"])
            for one in cells
            if one["fipId"] == self.fip.entity_id
        }

    def say(self, total: Said, status: str, by_aa: list[Said]) -> None:
        """Compare what is shown at once, and again once the sums are made."""
        expected = {aa.aa_id: tuple(said) for aa, said in zip(self.aas, by_aa, strict=True)}

        self.is_shown(total, status, expected)
        sum_up(self.service)
        self.is_shown(total, status, expected)

    def is_shown(self, total: Said, status: str, by_aa: dict[str, tuple[int, int]]) -> None:
        assert self.consents() == (*total, status)
        assert self.pairs() == by_aa
        assert self.own() == [by_aa[aa.aa_id] for aa in self.aas]


@pytest.fixture
def reporting(health_service: Service) -> Reporting:
    aas = [pushing_aa(health_service) for _ in range(3)]
    end = aas[0].last_window() + WINDOW
    fip, noc = new_member(health_service, "FIP"), new_operator(health_service, "health")
    return Reporting(health_service, aas, fip, noc, end)


def test_late_and_replaced_reports_are_in_the_last_hour_before_and_after_it_is_summed(
    reporting: Reporting,
) -> None:
    first, second, third = reporting.aas
    windows = [reporting.end - place * WINDOW for place in range(1, 7)]
    for window in windows:
        reporting.push(first, window, Said(100, 99))
    reporting.push(second, windows[0], Said(50, 50))
    reporting.push(third, windows[0], Said(10, 10))
    reporting.say(Said(660, 654), "GOOD", [Said(600, 594), Said(50, 50), Said(10, 10)])

    reporting.push(second, windows[5], Said(40, 40))
    reporting.push(first, windows[0], Said(100, 20))

    reporting.say(Said(700, 615), "BAD", [Said(600, 515), Said(90, 90), Said(10, 10)])


@pytest.mark.slow
def test_an_admitted_report_is_in_the_last_hour_that_was_summed_without_it(
    reporting: Reporting,
) -> None:
    first, second, third = reporting.aas
    window = reporting.end - WINDOW
    reporting.push(first, window, Said(100, 99))
    reporting.push(second, window, Said(100, 99))
    reporting.push(third, window - WINDOW, Said(10, 10))
    held = reporting.push(third, window, Said(9 * 10**15, 9 * 10**15))
    reporting.say(Said(210, 208), "GOOD", [Said(100, 99), Said(100, 99), Said(10, 10)])

    path = f"/health/held-reports/{held['receiptId']}/admit"
    assert reporting.noc.post(path, reason="a festival").status_code == 200

    calls = 9 * 10**15
    reporting.say(
        Said(calls + 210, calls + 208),
        "GOOD",
        [Said(100, 99), Said(100, 99), Said(calls + 10, calls + 10)],
    )


@pytest.mark.slow
def test_a_range_that_begins_within_an_hour_of_long_ago_has_its_windows_alone(
    reporting: Reporting,
) -> None:
    """Five hours ago there are sums of hours and reports, none of windows."""
    first, begin = reporting.aas[0], reporting.end - 5 * HOUR
    begin -= timedelta(minutes=begin.minute)
    for place in range(9):
        reporting.push(first, begin + place * WINDOW, Said(100 + place, 100))
    sum_up(reporting.service)
    within = {"from": (begin + 2 * WINDOW).isoformat(), "to": (begin + 8 * WINDOW).isoformat()}

    answer = reporting.noc.get("/health/fips", fipId=reporting.fip.entity_id, **within).json()
    (api,) = [one for one in answer["rows"][0]["apis"] if one["type"] == CONSENT]
    assert (api["requests"], api["succeeded"]) == (sum(range(102, 108)), 600)


def test_a_page_says_which_windows_it_shows_of_a_range_that_cuts_them(
    reporting: Reporting,
) -> None:
    browser = reader(reporting.service)
    assert browser.sign_in(reporting.noc.email).status_code == 303
    hour = reporting.end - timedelta(hours=6, minutes=reporting.end.minute)
    path = f"/console/operator/health/fip/{reporting.fip.entity_id}"

    def page(begin: datetime, end: datetime) -> str:
        query = {"from": begin.strftime(INSTANT), "to": end.strftime(INSTANT)}
        return re.sub("<[^>]*>", "", browser.get(f"{path}?{urlencode(query)}").text)

    whole, cut = page(hour, hour + HOUR), page(hour + MINUTES_3, hour + HOUR + MINUTES_3)

    assert "Shown are whole windows" not in whole
    said = cut.partition("Shown are whole windows of ten minutes: ")[2].partition(".\n")[0]
    assert re.findall(r"\d\d:\d\d", said) == [
        f"{(hour + WINDOW).astimezone(INDIA):%H:%M}",
        f"{(hour + HOUR + WINDOW).astimezone(INDIA):%H:%M}",
    ]
