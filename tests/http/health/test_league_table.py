"""The league table with rows: for operators, and for members where the operator says so."""

import csv
import io
from datetime import timedelta

from tests.http.health.level_world import INDIA, REPORTS, LevelWorld
from tests.support.people.console import reader
from tests.support.service import Service


def test_members_are_shown_by_what_they_delivered_with_the_numbers_of_their_reports(
    health_service: Service,
) -> None:
    world = LevelWorld(health_service)
    noc, worst = world.network.noc, world.network.fips[0]
    month = world.start.astimezone(INDIA)
    over = (month.replace(day=1) + timedelta(days=32)).replace(day=2)
    health_service.advance(f"P{(over - world.end).days + 1}D")
    today, asked = health_service.advance("PT0S").date().isoformat(), f"{month:%Y-%m}"
    for bank in (worst, world.other):
        made = noc.post(REPORTS, entityId=bank.entity_id, month=asked)
        assert made.status_code == 200, made.text
    shown = noc.post("/levels/rule", since=today, league=True, reason="agreed")
    assert shown.status_code == 200, shown.text

    staff, admin = reader(health_service), reader(health_service)
    assert staff.sign_in(noc.email).status_code == 303
    assert admin.sign_in(worst.email).status_code == 303
    own = f"/console/entity/{worst.entity_id}/levels/league?month={asked}"
    page = admin.get(own).text
    first_seen = admin.get(f"/console/entity/{worst.entity_id}/levels/league").text
    everyone = staff.get(f"/console/operator/levels/league?month={asked}&export=places").content
    places = list(csv.DictReader(io.StringIO(everyone.decode("utf-8-sig"))))
    hidden = noc.post("/levels/rule", since=today, league=False, reason="as before")

    ours = [one for one in places if one["Entity ID"] in {worst.entity_id, world.other.entity_id}]
    assert [one["Entity ID"] for one in ours] == [world.other.entity_id, worst.entity_id]
    assert int(ours[0]["Place"]) < int(ours[1]["Place"])
    assert float(ours[1]["Availability, %"]) < float(ours[0]["Availability, %"])
    assert ours[1]["Availability, %"] in page
    assert f'<option value="{asked}" selected>' in first_seen
    assert ours[1]["Availability, %"] in first_seen
    assert all(one["Entity ID"] in page for one in ours)
    assert hidden.status_code == 200
    assert admin.get(own).status_code == 404
