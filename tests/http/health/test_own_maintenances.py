"""A member announces its own maintenances before they begin, only so many, and all can read of them.

What is bad meanwhile opens nothing. The tests go on in their own service's time; each has a member
of its own.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest
from tests.http.health.service_in_process import service_in_process
from tests.http.public_status import open_data
from tests.support.alarm_network import Network, as_entity
from tests.support.members import Member, new_member
from tests.support.metrics.health_network import a_network
from tests.support.people.console import reader
from tests.support.people.operators import new_operator
from tests.support.service import Service

from mudra.metrics.payload.catalogue import WINDOW, window_start

MAX_OWN = 10

OWN = "/metrics/perf/v1/maintenance"
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


class Bank:
    """A FIP that announces and ends its maintenances."""

    def __init__(self, service: Service) -> None:
        self.member: Member = new_member(service, "FIP")
        self.service = service
        self.renew()

    def renew(self) -> None:
        """Gets a token, since one lives for a day."""
        self.headers = as_entity(self.member)

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.service.wall(), UTC)

    def ask(
        self, ends: datetime, begins: datetime | None = None, why: str = "new disks"
    ) -> httpx2.Response:
        sent = {"ends": ends.isoformat(), "reason": why}
        if begins is not None:
            sent["begins"] = begins.isoformat()
        return self.member.client.post(self._own, json=sent, headers=self.headers)

    def announce(self, ends: datetime, begins: datetime | None = None) -> dict[str, Any]:
        answer = self.ask(ends, begins)
        assert answer.status_code == 200, answer.text
        found = answer.json()["silence"]
        assert isinstance(found, dict)
        return found

    def change(self, silence: dict[str, Any], **what: str) -> httpx2.Response:
        path = f"{self._own}/{silence['silenceId']}"
        return self.member.client.post(path, json=what, headers=self.headers)

    def changed(self, silence: dict[str, Any], **what: str) -> dict[str, Any]:
        answer = self.change(silence, **what)
        assert answer.status_code == 200, answer.text
        found = answer.json()["silence"]
        assert isinstance(found, dict)
        return found

    def end(self, silence: dict[str, Any]) -> None:
        path = f"{self._own}/{silence['silenceId']}/end"
        answer = self.member.client.post(path, json={}, headers=self.headers)
        assert answer.status_code == 200, answer.text

    def listed(self) -> list[dict[str, Any]]:
        found = self.member.client.get(self._own, headers=self.headers).json()["silences"]
        assert isinstance(found, list)
        return found

    def page(self, path: str) -> str:
        return self.member.client.get(f"{self.service.root}{path}").text

    def published(self) -> list[dict[str, Any]]:
        shown = open_data(self.service)["maintenance"]
        return [one for one in shown if one["fip_id"] == self.member.entity_id]

    @property
    def _own(self) -> str:
        return self.service.root + OWN


@pytest.fixture(scope="module")
def own_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    data_dir = tmp_path_factory.mktemp("own-maintenances") / "data"
    with service_in_process(data_dir) as service:
        yield service


@pytest.fixture
def bank(own_service: Service) -> Bank:
    own_service.advance("PT0S")
    made = Bank(own_service)
    left = WINDOW - (made.now() - window_start(made.now()))
    if left < WINDOW / 2:
        own_service.advance(f"PT{int(left.total_seconds()) + 1}S")
    return made


def test_a_maintenance_begins_with_the_window_after_it_was_announced(bank: Bank) -> None:
    now = bank.now()
    begins = window_start(now) + WINDOW

    at_once = bank.announce(now + HOUR)
    of_the_past = bank.announce(now + HOUR, now - DAY)
    within_the_window = bank.announce(now + HOUR, now + timedelta(seconds=1))
    later = bank.announce(now + 2 * HOUR, begins + timedelta(minutes=3))

    moved = [at_once["begins"], of_the_past["begins"], within_the_window["begins"]]
    assert {datetime.fromisoformat(one) for one in moved} == {begins}
    assert datetime.fromisoformat(later["begins"]) == begins + timedelta(minutes=3)


def test_the_answer_says_whether_it_is_in_time_for_the_networks_rule(bank: Bank) -> None:
    now = bank.now()

    late = bank.announce(now + 22 * HOUR, now + 20.5 * HOUR)["notice"]
    in_time = bank.announce(now + 32 * HOUR, now + 30.5 * HOUR)["notice"]

    assert (late["inTime"], late["aheadHours"], late["noticeHours"]) == (False, 20, 24)
    assert late["follows"] == (
        "It was announced 20 hours ahead. The network's rule asks for 24 hours. It is not left out of "
        "availability: calls that fail in it count as an outage."
    )
    assert (in_time["inTime"], in_time["aheadHours"], in_time["hoursAMonth"]) == (True, 30, 24)
    assert in_time["follows"] == (
        "It was announced 30 hours ahead. The network's rule asks for 24 hours. It is left out of "
        "availability, as far as it is within the first 24 hours of maintenance in 30 days."
    )
    listed = bank.member.client.get(f"{bank.service.root}{OWN}", headers=bank.headers).json()
    assert [one["notice"] for one in listed["silences"]] == [late, in_time]


def test_one_that_ends_within_the_window_is_refused_by_its_field(bank: Bank) -> None:
    refused = bank.ask(bank.now() + timedelta(minutes=1))

    assert refused.status_code == 400
    assert refused.json()["errorMsg"].startswith("ends must be later than begins")
    far = bank.ask(datetime(9999, 12, 31, 23, tzinfo=UTC), datetime(9999, 12, 31, 20, tzinfo=UTC))
    assert (far.status_code, far.json()["errorMsg"][:6]) == (400, "begins")


def test_one_that_was_ended_before_it_began_does_not_count(bank: Bank) -> None:
    ends = bank.now() + 2 * HOUR
    made = [bank.announce(ends) for _ in range(MAX_OWN)]
    refused = bank.ask(ends)

    assert (refused.status_code, refused.json()["errorCode"]) == (409, "Conflict")
    bank.end(made[0])
    bank.announce(ends)
    assert bank.ask(ends).status_code == 409


def test_one_that_began_within_a_day_counts_though_it_was_ended(bank: Bank) -> None:
    for _ in range(MAX_OWN):
        made = bank.announce(bank.now() + HOUR)
        bank.service.advance("PT10M")
        bank.end(made)

    refused = bank.ask(bank.now() + HOUR)
    assert (refused.status_code, refused.json()["errorCode"]) == (409, "Conflict")
    assert "began within 24 hours" in refused.json()["errorMsg"]
    bank.service.advance("P1D")
    bank.renew()
    bank.announce(bank.now() + HOUR)


def test_all_maintenances_of_a_member_are_a_day_of_any_seven_at_most(bank: Bank) -> None:
    start = window_start(bank.now()) + DAY
    bank.announce(start + 12 * HOUR, start)
    bank.announce(start + 6 * DAY + 12 * HOUR, start + 6 * DAY)

    for more in (start - 3 * HOUR, start + 3 * DAY, start + 7 * DAY - HOUR):
        refused = bank.ask(more + HOUR, more)
        assert (refused.status_code, refused.json()["errorCode"]) == (409, "Conflict"), more
        assert "7 days would be more than 24 hours" in refused.json()["errorMsg"]
    bank.announce(start + 7 * DAY + 13 * HOUR, start + 7 * DAY + 12 * HOUR)
    by_operator = new_operator(bank.service, "health").post(
        "/health/silences",
        entityId=bank.member.entity_id,
        ends=(start + 3 * DAY).isoformat(),
        reason="new disks",
        maintenance=True,
    )
    assert by_operator.status_code == 200, by_operator.text


def test_a_change_is_announced_now_where_it_adds_a_moment(bank: Bank) -> None:
    start = window_start(bank.now()) + 31 * HOUR
    made = bank.announce(start + 4 * HOUR, start)
    bank.service.advance("PT10H")

    shorter = bank.changed(made, ends=(start + 3 * HOUR).isoformat())
    renamed = bank.changed(made, reason="new racks")
    longer = bank.changed(made, ends=(start + 4 * HOUR).isoformat())
    moved = bank.changed(made, begins=(start + 10 * HOUR).isoformat())

    assert [one["notice"]["aheadHours"] for one in (shorter, renamed)] == [30, 30]
    assert [one["notice"]["inTime"] for one in (longer, moved)] == [False, True]
    times = [datetime.fromisoformat(moved[one]) for one in ("begins", "ends")]
    assert times == [start + 10 * HOUR, start + 14 * HOUR]
    assert (moved["silenceId"], moved["reason"]) == (made["silenceId"], "new racks")
    audit = new_operator(bank.service, "audit").get("/audit", entityId=bank.member.entity_id)
    acts = [one["event"] for one in audit.json()["events"] if "silence" in one["event"]]
    assert acts == ["metrics:silence:change"] * 4 + ["metrics:silence:begin"]


def test_what_has_begun_or_is_another_members_is_not_changed(bank: Bank) -> None:
    soon, other = bank.announce(bank.now() + 2 * HOUR), Bank(bank.service)
    by_operator = new_operator(bank.service, "health").post(
        "/health/silences",
        entityId=bank.member.entity_id,
        begins=(bank.now() + DAY).isoformat(),
        ends=(bank.now() + 3 * DAY).isoformat(),
        reason="new disks",
        maintenance=True,
    )
    assert other.change(soon, reason="mine").status_code == 404
    assert bank.change(by_operator.json()["silence"], reason="mine").status_code == 404
    too_long = bank.change(soon, ends=(bank.now() + 26 * HOUR).isoformat())
    assert (too_long.status_code, too_long.json()["errorMsg"][:4]) == (400, "ends")

    bank.service.advance("PT15M")
    refused = bank.change(soon, ends=(bank.now() + 9 * HOUR).isoformat())

    assert (refused.status_code, refused.json()["errorCode"]) == (409, "Conflict")
    assert "end it, and announce another one" in refused.json()["errorMsg"]


def test_a_change_may_not_exceed_a_day_of_any_seven(bank: Bank) -> None:
    start = window_start(bank.now()) + DAY
    bank.announce(start + 20 * HOUR, start)
    made = bank.announce(start + 2 * DAY + 4 * HOUR, start + 2 * DAY)

    longer = bank.change(made, ends=(start + 2 * DAY + 5 * HOUR).isoformat())
    elsewhere = bank.change(made, begins=(start + 3 * DAY).isoformat())

    assert (longer.status_code, elsewhere.status_code) == (409, 200)


def test_admins_announce_change_and_withdraw_on_a_page(bank: Bank) -> None:
    entity_id = bank.member.entity_id
    own = f"/console/entity/{entity_id}/maintenance"
    admin = reader(bank.service)
    assert admin.sign_in(bank.member.email).status_code == 303
    start = (bank.now() + 30 * HOUR).strftime("%Y-%m-%dT%H:%M")
    typed = {"begins": start, "hours": "2", "reason": "new disks", "zone": "UTC"}

    refused = admin.act(own, own, **(typed | {"hours": "72"}))
    assert refused.status_code == 400
    assert "ours must be one of 1, 2, 4, 12, 24" in refused.text
    assert admin.act(own, own, **typed).headers["location"] == f"{own}?told=announced"
    listed = admin.get(own).text
    assert "It was announced 29 hours ahead" in listed or "It was announced 30 hours" in listed
    (made,) = bank.listed()
    assert made["madeBy"] == f"entity:{entity_id}"

    one = f"{own}/{made['silenceId']}"
    form = admin.get(f"{own}?change={made['silenceId']}").text
    assert f'action="{one}"' in form
    kept = {"begins": "", "hours": "", "reason": "new racks", "zone": "UTC"}
    assert admin.act(own, one, **kept).headers["location"] == f"{own}?told=changed"
    assert [(at["begins"], at["reason"]) for at in bank.listed()] == [(made["begins"], "new racks")]
    assert admin.act(own, f"{one}/end").headers["location"] == f"{own}?told=withdrawn"
    assert bank.listed() == []
    assert admin.act(own, f"{one}/end").status_code == 404


def test_the_limit_of_a_member_is_one_for_its_people_and_its_token(bank: Bank) -> None:
    own = f"/console/entity/{bank.member.entity_id}/maintenance"
    admin = reader(bank.service)
    admin.sign_in(bank.member.email)
    start = window_start(bank.now()) + DAY
    bank.announce(start + 20 * HOUR, start)

    begins = (start + 2 * DAY).strftime("%Y-%m-%dT%H:%M")
    refused = admin.act(own, own, begins=begins, hours="12", reason="new disks", zone="UTC")

    assert refused.status_code == 409
    assert "7 days would be more than 24 hours" in refused.text


def test_one_that_ended_stays_on_the_public_status_for_a_day(bank: Bank) -> None:
    cancelled = bank.announce(bank.now() + 2 * HOUR)
    bank.end(cancelled)
    made = bank.announce(bank.now() + HOUR)
    wait, path = bank.service.wait_until, f"/status/fip/{bank.member.entity_id}"
    wait(lambda: [one["ended"] for one in bank.published()] == [False], 60)

    bank.service.advance("PT10M")
    bank.end(made)
    wait(lambda: [one["ended"] for one in bank.published()] == [True], 60)
    assert "Planned maintenance, ended: " in bank.page(path)
    assert re.search(rf"{bank.member.entity_id}.*</time> · ended</p>", bank.page("/status"))
    hindi = bank.page(f"{path}?lang=hi")
    assert "नियोजित रखरखाव, समाप्त" in hindi

    bank.service.advance("P1D")
    wait(lambda: bank.published() == [], 60)


@pytest.fixture(scope="module")
def reporting(own_service: Service) -> Network:
    """After the other tests: time is long where AAs have to report it."""
    health = a_network(own_service, aas=3, fips=1)
    return Network(own_service, health, health.noc)


@pytest.fixture
def network(reporting: Network) -> Network:
    reporting.health.early_in_a_window()
    return reporting


def test_a_member_announces_its_maintenance_and_only_what_outlives_it_opens(
    network: Network,
) -> None:
    member = new_member(network.service, "FIP")
    bank, headers = member.entity_id, as_entity(member)
    own = f"{network.service.root}{OWN}"
    now = network.health.aas[0].now()
    ends = {"ends": (now + 5 * WINDOW).isoformat(), "reason": "new disks"}
    too_long = {"ends": (now + 25 * HOUR).isoformat(), "reason": "all week"}
    assert member.client.post(own, json=too_long, headers=headers).status_code == 400

    answer = member.client.post(own, json=ends, headers=headers)
    assert answer.status_code == 200, answer.text
    silence = answer.json()["silence"]
    assert (silence["entityId"], silence["maintenance"]) == (bank, True)

    def page() -> str:
        return member.client.get(f"{network.service.root}/status/fip/{bank}").text

    network.report(bank, 99, windows=1)  # it has begun before, and is judged
    network.report(bank, 0, windows=3)
    network.health.settled()
    network.service.wait_until(lambda: "Planned maintenance" in page())
    assert network.open_incidents(bank) == []
    assert network.noc.get("/incidents", entityId=bank).json()["incidents"] == []
    other = as_entity(new_member(network.service, "FIP"))
    assert member.client.get(own, headers=other).json()["silences"] == []
    end = f"{own}/{silence['silenceId']}/end"
    assert member.client.post(end, json={}, headers=other).status_code == 404

    assert member.client.post(end, json={}, headers=headers).status_code == 200
    network.report(bank, 0, windows=4)
    network.service.wait_until(lambda: network.open_incidents(bank))
    (incident,) = network.open_incidents(bank)
    assert incident["began"] > silence["begins"]


def test_a_window_that_was_bad_before_the_announcement_is_judged(network: Network) -> None:
    member = new_member(network.service, "FIP")
    bank, headers = member.entity_id, as_entity(member)
    own = f"{network.service.root}{OWN}"
    network.good(bank)
    for _ in range(2):
        now = network.health.aas[0].now()
        order = {"ends": (now + 2 * WINDOW).isoformat(), "reason": "new disks"}
        made = member.client.post(own, json=order, headers=headers).json()["silence"]
        end = f"{own}/{made['silenceId']}/end"
        assert member.client.post(end, json={}, headers=headers).status_code == 200
        network.report(bank, 0, windows=1)

    network.service.wait_until(lambda: network.open_incidents(bank))
