"""An AA cannot report what is implausible: it is kept, marked, and in no sum until admitted."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest
from tests.support.depth import with_every_change
from tests.support.mailbox import mails, subjects
from tests.support.members import Member, new_member
from tests.support.metrics.metrics_push import PushingAa, pushing_aa, sum_up
from tests.support.people.console import reader
from tests.support.people.operators import Operator, new_operator
from tests.support.service import Service

from mudra.bootstrap.dependencies import Dependencies
from mudra.metrics.payload.catalogue import WINDOW, Position, RequestType
from mudra.metrics.payload.report import RequestBlock, RequestFip
from mudra.metrics.public_status.status_snapshot import StatusReader

ENOUGH_HISTORY = 6
GROWTH = 20
SMALL = 20_000

LIE = 9 * 10**15


@dataclass
class Seen:
    """AAs that report one FIP, as many as a test asks for, and an operator."""

    service: Service
    noc: Operator
    fip: Member
    _aas: dict[int, PushingAa] = field(default_factory=dict)

    def aa(self, number: int = 0) -> PushingAa:
        """One of them, the same each time."""
        if number not in self._aas:
            self._aas[number] = pushing_aa(self.service)
        return self._aas[number]

    def push(self, aa: PushingAa, calls: int, good: int, window: datetime, p50: int = 90) -> Any:
        counts = [0] * len(Position)
        counts[Position.TOTAL], counts[Position.OK_200] = calls, good
        counts[Position.INTERNAL_500] = calls - good
        times = (p50, p50 + 100, p50 + 200, p50 + 300)
        block = RequestBlock(RequestType.CONSENT.value, times, tuple(counts))
        payload = msgspec.structs.replace(
            aa.requests(window), fips=(RequestFip(self.fip.entity_id, (block,)),)
        )
        answer = aa.push(payload)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def consents(self, window: datetime) -> tuple[int, int]:
        """Calls and good ones, as the operator sees them."""
        within = {"from": window.isoformat(), "to": (window + WINDOW).isoformat()}
        answer = self.noc.get("/health/fips", fipId=self.fip.entity_id, **within)
        assert answer.status_code == 200, answer.text
        (row,) = answer.json()["rows"]
        (api,) = [one for one in row["apis"] if one["type"] == "cns"]
        return api["requests"], api["succeeded"]

    def held(self, aa: PushingAa, **query: str) -> list[dict[str, Any]]:
        answer = self.noc.get("/health/held-reports", **query)
        assert answer.status_code == 200, answer.text
        return [one for one in answer.json()["reports"] if one["aaId"] == aa.aa_id]


@pytest.fixture(scope="module")
def noc(health_service: Service) -> Operator:
    return new_operator(health_service, "health", "audit")


@pytest.fixture
def seen(health_service: Service, noc: Operator) -> Seen:
    return Seen(health_service, noc, new_member(health_service, "FIP"))


@pytest.mark.parametrize(
    ("truth", "lie"), with_every_change([(0, LIE)], [(0, LIE), (100, 0)]), ids=["green", "red"]
)
def test_a_liar_turns_no_sum_in_either_direction(seen: Seen, truth: int, lie: int) -> None:
    window = seen.aa().last_window()
    for honest in (seen.aa(0), seen.aa(1)):
        seen.push(honest, 100, truth, window)

    answer = seen.push(seen.aa(2), LIE, lie, window)

    assert answer["status"] == "accepted"
    assert "is implausible" in answer["findings"][0]["problem"]
    assert seen.consents(window) == (200, 2 * truth)
    (held,) = seen.held(seen.aa(2))
    assert (held["claimed"], held["state"]) == (str(LIE), "waiting")
    written = mails(seen.service, seen.aa(2).admin)[-1]
    assert written["subject"].endswith(": a report is implausible")
    assert f"({seen.aa(2).aa_id})" in written["text"]
    (receipt,) = seen.aa(2).receipts()["receipts"]
    assert receipt["receiptId"] == held["receiptId"]
    assert "is implausible" in receipt["findings"][0]["problem"]


def test_one_email_covers_any_number_of_reports(seen: Seen) -> None:
    aa = seen.aa()
    for ago in range(3):
        seen.push(aa, LIE, LIE, aa.last_window() - ago * WINDOW)

    shown = [one for one in subjects(seen.service, aa.admin) if "implausible" in one]
    assert len(shown) == 1


def test_an_operator_admits_a_report_once_and_it_counts(seen: Seen) -> None:
    aa, window = seen.aa(), seen.aa().last_window()
    seen.push(seen.aa(1), 100, 100, window)
    receipt_id = seen.push(aa, LIE, 7, window)["receiptId"]
    path = f"/health/held-reports/{receipt_id}"

    admitted = seen.noc.post(f"{path}/admit", reason="a festival")
    again = seen.noc.post(f"{path}/refuse", reason="no")

    assert admitted.json()["report"]["state"] == "admitted"
    assert again.status_code == 409
    assert seen.consents(window) == (LIE + 100, 107)
    assert seen.held(aa) == []
    assert [one["state"] for one in seen.held(aa, decided="true")] == ["admitted"]
    events = seen.noc.get("/audit", entityId=aa.aa_id).json()["events"]
    (event,) = [one for one in events if one["event"] == "metrics:held_report:admit"]
    assert event["reason"] == "a festival"


@pytest.mark.parametrize(
    "later", with_every_change(["PT0S"], ["PT0S", "P10D"]), ids=["of yesterday", "of weeks ago"]
)
def test_an_admitted_report_reaches_the_days_of_the_public_status(seen: Seen, later: str) -> None:
    aa, window = seen.aa(), seen.aa().last_window() - timedelta(days=1)
    seen.push(seen.aa(1), 200, 200, window)
    receipt_id = seen.push(aa, LIE, 7, window)["receiptId"]
    seen.service.advance(later)
    reader = StatusReader()

    async def requests(dependencies: Dependencies) -> int | None:
        snapshot = await reader.read(dependencies.reads, dependencies.clock())
        (fip,) = [one for one in snapshot.fips if one.fip_id == seen.fip.entity_id]
        (day,) = [one for one in fip.days if one.day == window.date()]
        return day.requests

    before = seen.service.in_store(requests)
    noc = new_operator(seen.service, "health")  # whose token has not expired
    admitted = noc.post(f"/health/held-reports/{receipt_id}/admit", reason="a festival")
    sum_up(seen.service)

    assert admitted.status_code == 200, admitted.text
    assert before == 200
    assert seen.service.in_store(requests) == LIE + 200


def test_reports_are_decided_on_a_page_and_their_aa_sees_them_on_its_overview(
    seen: Seen, noc: Operator
) -> None:
    aa, page = seen.aa(), "/console/operator/held-reports"
    receipts = [
        seen.push(aa, LIE, 7, aa.last_window() - ago * WINDOW)["receiptId"] for ago in (0, 1)
    ]
    staff, admin = reader(seen.service), reader(seen.service)
    assert staff.sign_in(noc.email).status_code == 303
    assert admin.sign_in(aa.admin).status_code == 303

    shown, overview = staff.get(page).text, admin.get(f"/console/entity/{aa.aa_id}").text
    board = staff.get("/console/operator/board?kind=held-report").text
    done = [
        staff.act(page, f"{page}/{receipt}/{act}", reason="a festival")
        for receipt, act in zip(receipts, ("admit", "refuse"), strict=True)
    ]
    empty = staff.act(page, f"{page}/{receipts[0]}/admit", reason=" ")

    assert all(receipt in shown for receipt in receipts)
    assert f"{LIE:,} calls" in shown
    assert "2 reports are held as implausible" in overview
    assert re.search(rf"2 implausible reports of [^<]+.*{aa.aa_id}", board, re.DOTALL)
    assert [answer.status_code for answer in done] == [303, 303]
    assert empty.status_code == 400
    assert "held as implausible" not in admin.get(f"/console/entity/{aa.aa_id}").text
    states = {one["receiptId"]: one["state"] for one in seen.held(aa, decided="true")}
    assert [states[receipt] for receipt in receipts] == ["admitted", "refused"]
    assert staff.act(page, f"{page}/{receipts[1]}/admit", reason="x").status_code == 409


def test_an_overview_leads_its_aa_to_the_held_and_to_the_missing_reports(seen: Seen) -> None:
    aa, honest = seen.aa(0), seen.aa(1)
    window = aa.last_window() - 8 * WINDOW  # the page opens on one hour while something is wrong
    receipt_id = seen.push(aa, LIE, 7, window)["receiptId"]
    admins = [reader(seen.service) for _ in range(2)]
    for admin, one in zip(admins, (aa, honest), strict=True):
        assert admin.sign_in(one.admin).status_code == 303
    home = f"/console/entity/{aa.aa_id}"

    overview, held = admins[0].get(home).text, admins[0].get(f"{home}/health?range=1h").text
    missing = admins[0].get(f"{home}/health?range=24h").text
    as_csv = admins[0].get(f"{home}/health?export=held-reports").text
    others = admins[1].get(f"/console/entity/{honest.aa_id}/health").text

    assert f'<a href="{home}/health#held">See reports' in overview
    assert f'<a href="{home}/health?range=24h#missing">See missing reports' in overview
    assert 'id="held"' in held
    assert receipt_id in held
    assert f"{LIE:,} calls" in held
    assert 'id="missing"' in missing
    assert "payloads missing" in missing
    assert receipt_id in as_csv
    assert "Held reports" not in others


def test_a_refused_report_stays_out_and_a_later_one_of_the_window_counts(seen: Seen) -> None:
    aa, window = seen.aa(), seen.aa().last_window()
    receipt_id = seen.push(aa, LIE, LIE, window)["receiptId"]
    path = f"/health/held-reports/{receipt_id}"

    answer = seen.push(aa, 50, 40, window)
    admitted = seen.noc.post(f"{path}/admit", reason="late")
    refused = seen.noc.post(f"{path}/refuse", reason="a test run")

    assert answer["status"] == "replaced"
    assert admitted.status_code == 409
    assert refused.json()["report"]["state"] == "refused"
    assert seen.consents(window) == (50, 40)


def test_an_implausible_correction_leaves_what_was_reported_before(seen: Seen) -> None:
    aa, window = seen.aa(), seen.aa().last_window()
    seen.push(aa, 50, 40, window)

    receipt_id = seen.push(aa, LIE, LIE, window)["receiptId"]
    before = seen.consents(window)
    seen.noc.post(f"/health/held-reports/{receipt_id}/admit", reason="it is so")

    assert before == (50, 40)
    assert seen.consents(window) == (LIE, LIE)


def test_a_response_time_that_no_call_can_have_is_held(seen: Seen) -> None:
    seen.push(seen.aa(), 10, 10, seen.aa().last_window(), p50=2**52)

    assert [one["doubt"] for one in seen.held(seen.aa())] == ["hours for one call"]


@pytest.mark.parametrize("usual", [400, 30_000])
def test_neither_a_new_aa_nor_a_festival_is_held(seen: Seen, usual: int) -> None:
    aa, last = seen.aa(), seen.aa().last_window()
    pushed: list[Callable[[], Any]] = [
        lambda ago=ago: seen.push(aa, usual, usual, last - ago * WINDOW) for ago in range(7, 0, -1)
    ]

    answers = [push() for push in pushed] + [seen.push(aa, 10 * usual, 10 * usual, last)]

    assert all("implausible" not in str(one["findings"]) for one in answers)
    assert 10 * usual > SMALL or usual == 400


DAYS_AGO = timedelta(days=2)


@pytest.fixture
def known(seen: Seen) -> PushingAa:
    """An AA that reported 30,000 calls in each of some windows two days ago."""
    aa = seen.aa()
    for ago in range(ENOUGH_HISTORY):
        seen.push(aa, 30_000, 29_900, aa.last_window() - DAYS_AGO - ago * WINDOW)
    return aa


def held_of(answer: Any) -> bool:
    return "implausible" in str(answer["findings"])


def test_an_aa_that_grows_with_each_window_does_not_raise_its_own_limit(
    seen: Seen, known: PushingAa
) -> None:
    claims = [30_000 * 4**step for step in range(6)]  # fast: by 5 % it takes a hundred windows
    windows = [known.last_window() - ago * WINDOW for ago in range(6, 0, -1)]

    answers = [
        seen.push(known, calls, calls, at) for calls, at in zip(claims, windows, strict=True)
    ]

    assert [held_of(one) for one in answers] == [
        calls > GROWTH * 30_000 + SMALL for calls in claims
    ]


def test_an_aa_that_honestly_grows_is_held_until_it_was_admitted_once(
    seen: Seen, known: PushingAa
) -> None:
    last = known.last_window()
    tenfold = seen.push(known, 300_000, 299_000, last - 3 * WINDOW)
    hundredfold = seen.push(known, 3_000_000, 2_990_000, last - 2 * WINDOW)
    seen.noc.post(f"/health/held-reports/{hundredfold['receiptId']}/admit", reason="a merger")
    after = seen.push(known, 5_000_000, 4_990_000, last)

    assert [held_of(one) for one in (tenfold, hundredfold, after)] == [False, True, False]


def test_the_command_lists_and_decides(seen: Seen) -> None:
    aa = seen.aa()
    receipt_id = seen.push(aa, LIE, LIE, aa.last_window())["receiptId"]

    listed = seen.service.cli("health", "held")
    refused = seen.service.cli("health", "refuse", receipt_id, "--reason", "a test run")

    assert receipt_id in listed.stdout
    assert "refused" in refused.stdout
    assert seen.held(aa) == []
