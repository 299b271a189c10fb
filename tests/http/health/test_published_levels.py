"""Service levels on the public status and in the league: only where the operator says so."""

import csv
import io
import re
from datetime import timedelta
from typing import Any

import pytest
from tests.http.health.level_world import INDIA, REPORTS, LevelWorld
from tests.http.public_status import until_shown
from tests.support.people.console import reader
from tests.support.service import Service

PAGE, DATA = "/status/levels", "/status/levels.json"


class Published:
    """A network in the month after its outage, with the reports of two of its FIPs."""

    def __init__(self, service: Service) -> None:
        self.service, self.world = service, LevelWorld(service)
        self.noc = self.world.network.noc
        self.worst, self.best = self.world.network.fips[0], self.world.other
        start = self.world.start.astimezone(INDIA)
        over = (start.replace(day=1) + timedelta(days=32)).replace(day=2)
        service.advance(f"P{(over - self.world.end).days + 1}D")
        self.month, self.client = f"{start:%Y-%m}", service.client()
        self.reports = {one.entity_id: self.make(one.entity_id) for one in (self.worst, self.best)}

    def make(self, entity_id: str) -> dict[str, Any]:
        """Has the month's report made; returns its latest version."""
        made = self.noc.post(REPORTS, entityId=entity_id, month=self.month)
        assert made.status_code == 200, made.text
        found: dict[str, Any] = self.world.read(made.json()["report"]["reportId"]).json()["report"]
        return found

    def say(self, **rule: bool) -> None:
        today = self.service.advance("PT0S").date().isoformat()
        answer = self.noc.post("/levels/rule", since=today, reason="agreed", **rule)
        assert answer.status_code == 200, answer.text

    def status(self, path: str) -> int:
        return self.client.get(f"{self.service.root}{path}").status_code

    def text(self, path: str) -> str:
        answer = self.client.get(f"{self.service.root}{path}")
        assert answer.status_code == 200, answer.text
        return answer.text

    def levels(self) -> dict[str, dict[str, Any]]:
        found = self.client.get(f"{self.service.root}{DATA}").json()["levels"]
        ours = (self.worst.entity_id, self.best.entity_id)
        return {one["fip_id"]: one for one in found if one["fip_id"] in ours}

    def contest(self) -> str:
        """Disputes a day of the worst FIP; returns the ID."""
        day = self.world.start.astimezone(INDIA).date().isoformat()
        said = {"entityId": self.worst.entity_id, "about": "day", "text": "We answered all."}
        made = self.worst.client.post(
            "/v1/entity/disputes", json={**said, "day": day}, headers=self.worst.bearer()
        )
        assert made.status_code == 200, made.text
        return str(made.json()["dispute"]["disputeId"])


@pytest.fixture(scope="module")
def network(health_service: Service) -> Published:
    return Published(health_service)


def availability(report: dict[str, Any]) -> dict[str, Any]:
    of_all = [
        one for one in report["figures"] if (one["measure"], one["api"]) == ("availability", "")
    ]
    (found,) = of_all
    return dict(found)


def test_all_see_what_each_fip_delivered_where_the_operator_says_so(
    health_service: Service, network: Published
) -> None:
    network.say(published=False)
    until_shown(health_service, lambda: network.status("/status") == 200)
    health_service.wait_until(lambda: network.status(PAGE) == 404)
    hidden = [network.status(PAGE), network.status(DATA)]
    refused = network.client.get(f"{health_service.root}{DATA}").json()
    assert "levels" not in re.sub(r"<style.*?</style>", "", network.text("/status"))

    network.say(published=True)
    until_shown(health_service, lambda: network.status(PAGE) == 200)

    assert (hidden, refused["errorMsg"]) == (
        [404, 404],
        "the operator of this network publishes no service levels",
    )
    shown = network.levels()
    for fip_id, report in network.reports.items():
        figure, level = availability(report), shown[fip_id]
        assert level["availability_percentage"] == figure["value"]
        assert level["target_percentage"] == figure["target"] == 99.5
        assert level["target_met"] is figure["met"]
        assert (level["requests"], level["version"]) == (figure["whole"], report["version"])
        assert (level["month"], level["contested"]) == (network.month, False)
    worst, best = (shown[one.entity_id] for one in (network.worst, network.best))
    assert best["target_met"] is True
    rows = list(csv.DictReader(io.StringIO(network.text(f"{PAGE}?export=levels").lstrip("\ufeff"))))
    of_worst = next(one for one in rows if one["Entity ID"] == network.worst.entity_id)
    assert float(of_worst["Availability, %"]) == worst["availability_percentage"]
    for page in ("/status", f"/status/fip/{network.worst.entity_id}"):
        assert f'href="{PAGE}' in network.text(page)
    assert "लक्ष्य" in network.text(f"{PAGE}?lang=hi&levels.q={network.worst.entity_id}")

    network.say(published=False)
    until_shown(health_service, lambda: network.status(PAGE) == 404)
    assert network.status(DATA) == 404
    assert PAGE not in network.text("/status")


def test_the_league_has_what_they_delivered_with_the_numbers_of_their_reports(
    network: Published,
) -> None:
    worst, best = network.worst.entity_id, network.best.entity_id
    network.say(league=True)

    staff, admin = reader(network.service), reader(network.service)
    assert staff.sign_in(network.noc.email).status_code == 303
    assert admin.sign_in(network.worst.email).status_code == 303
    own = f"/console/entity/{worst}/levels/league?month={network.month}"
    page = admin.get(own).text
    first_seen = admin.get(f"/console/entity/{worst}/levels/league").text
    shown = f"/console/operator/levels/league?month={network.month}&export=places"
    places = list(csv.DictReader(io.StringIO(staff.get(shown).content.decode("utf-8-sig"))))
    network.say(league=False)

    ours = [one for one in places if one["Entity ID"] in {worst, best}]
    assert [one["Entity ID"] for one in ours] == [best, worst]
    assert int(ours[0]["Place"]) < int(ours[1]["Place"])
    assert float(ours[1]["Availability, %"]) < float(ours[0]["Availability, %"])
    assert ours[1]["Availability, %"] in page
    assert f'<option value="{network.month}" selected>' in first_seen
    assert ours[1]["Availability, %"] in first_seen
    assert all(one["Entity ID"] in page for one in ours)
    assert admin.get(own).status_code == 404


def test_what_is_disputed_is_marked_and_a_decision_shows_the_next_version(
    health_service: Service, network: Published
) -> None:
    network.say(published=True)
    fip_id = network.worst.entity_id
    until_shown(health_service, lambda: network.status(PAGE) == 200)
    until_shown(health_service, lambda: fip_id in network.levels())
    first = network.levels()[fip_id]

    dispute_id = network.contest()
    until_shown(health_service, lambda: network.levels()[fip_id]["contested"])
    assert "contested" in network.text(f"{PAGE}?levels.q={fip_id}")
    assert network.levels()[network.best.entity_id]["contested"] is False
    decided = network.noc.post(
        f"/disputes/{dispute_id}/steps",
        act="accept", effect="left_out", text="Their log shows it.",
    )  # fmt: skip
    assert decided.status_code == 200, decided.text
    network.reports[fip_id] = network.make(fip_id)
    until_shown(health_service, lambda: network.levels()[fip_id]["version"] == 2)

    last = network.levels()[fip_id]
    assert (first["target_met"], last["contested"]) == (False, False)
    assert last["availability_percentage"] != first["availability_percentage"]


def test_the_page_of_rules_switches_it_and_leaves_the_league_as_it_is(
    health_service: Service, network: Published
) -> None:
    network.say(league=True, published=False)
    staff = reader(health_service)
    assert staff.sign_in(network.noc.email).status_code == 303
    path = "/console/operator/levels"
    today = health_service.advance("PT0S").date().isoformat()
    typed = {"noticeHours": "24", "hoursAMonth": "24", "since": today, "reason": "agreed"}

    typed |= {"league": "yes", "published": "yes"}
    assert staff.act(path, f"{path}/rule", **typed).status_code == 303

    found = network.noc.get("/levels/rule").json()["inForce"]
    assert (found["league"], found["published"]) == (True, True)
    assert f'href="{PAGE}"' in staff.get(path).text
