"""One timeline over all areas: for the network, for one member, and before an incident."""

import csv
import io
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from tests.http.console.stored_incidents import open_incident
from tests.support.members import Member, new_member
from tests.support.people.console import Reader, reader
from tests.support.people.operators import Operator, active_operator, new_operator
from tests.support.service import Service

from mudra.bootstrap.dependencies import Dependencies
from mudra.timeline.release_note import note_release


@pytest.fixture(scope="module")
def bank(service: Service) -> Member:
    """A FIP that reset its secret, disputed a day, and announced a maintenance."""
    found = new_member(service, "FIP", name="Tapti Bank")
    assert found.reset(oldSecretValidity=0).status_code == 200
    day = (datetime.fromtimestamp(service.wall(), UTC) - timedelta(days=3)).date().isoformat()
    asked = {"entityId": found.entity_id, "about": "day", "day": day, "text": "Not ours."}
    answer = found.client.post("/v1/entity/disputes", json=asked, headers=found.bearer())
    assert answer.status_code == 200, answer.text
    return found


@pytest.fixture(scope="module")
def noc(service: Service) -> Operator:
    return new_operator(service, "health")


async def a_release_began(dependencies: Dependencies) -> None:
    """Another one: that of the service began when it did, before tests that move its clock."""
    async with dependencies.transaction() as tx:
        assert await note_release(tx, f"0.0.{uuid4().int}")


def own(member: Member, path: str = "timeline", **query: str) -> httpx2.Response:
    asked = {"entityId": member.entity_id, **query}
    return member.client.get(f"/v1/entity/{path}", params=asked, headers=member.bearer())


def kinds(found: list[dict[str, Any]], entity_id: str) -> set[str]:
    return {one["kind"] for one in found if one["entityId"] == entity_id}


def test_a_member_sees_its_own_and_what_concerns_all_and_nothing_else(
    service: Service, bank: Member, noc: Operator
) -> None:
    incident = open_incident(service, bank.entity_id)
    stranger = new_member(service, "FIP")
    ends = datetime.fromtimestamp(service.wall(), UTC) + timedelta(hours=2)
    planned = {"entityId": bank.entity_id, "ends": ends.isoformat(), "reason": "new disks"}
    assert noc.post("/health/silences", **planned, maintenance=True).status_code == 200

    mine = own(bank).json()["happenings"]
    service.in_store(a_release_began)
    theirs = own(stranger).json()["happenings"]
    everything = noc.get("/timeline", entityId=bank.entity_id).json()["happenings"]
    admin = reader(service)
    assert admin.sign_in(bank.email, bank.password).status_code == 303
    page = admin.get(f"/console/entity/{bank.entity_id}/timeline").text

    assert "began to run" not in page
    assert kinds(mine, bank.entity_id) == {"secret", "dispute", "maintenance", "incident"}
    assert incident in {one["ref"] for one in mine}
    assert {one["entityId"] for one in theirs} <= {"", stranger.entity_id}
    assert kinds(theirs, "") >= {"release"}
    assert kinds(everything, bank.entity_id) == kinds(mine, bank.entity_id)
    assert [one["at"] for one in everything] == sorted(
        (one["at"] for one in everything), reverse=True
    )
    assert own(bank, "timeline", entityId=stranger.entity_id).status_code == 401


def test_the_same_comes_as_csv_and_on_both_pages(
    service: Service, bank: Member, noc: Operator
) -> None:
    text = noc.get("/timeline", format="csv").text
    rows = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"))))
    boss: Reader = reader(service)
    assert boss.sign_in(active_operator(service, "health")).status_code == 303
    admin = reader(service)
    assert admin.sign_in(bank.email, bank.password).status_code == 303

    pages = [
        boss.get(f"/console/operator/timeline?of={bank.entity_id}").text,
        admin.get(f"/console/entity/{bank.entity_id}/timeline").text,
    ]

    assert text.startswith("\ufeff")  # its texts are written by people, in any script
    assert rows[0] == ["at", "until", "kind", "entityId", "text", "ref"]
    assert ["secret", bank.entity_id, "secret reset"] in [row[2:5] for row in rows]
    assert all("secret reset" in page.lower() for page in pages)


def test_what_changed_before_an_incident_is_ranked_and_hides_others_secrets(
    service: Service, noc: Operator
) -> None:
    bank, fiu = new_member(service, "FIP"), new_member(service, "FIU")
    assert bank.reset(oldSecretValidity=0).status_code == 200
    incident = open_incident(service, bank.entity_id)

    found = noc.get(f"/incidents/{incident}/before").json()["candidates"]
    mine = own(bank, f"incidents/{incident}/before").json()["candidates"]
    theirs = own(fiu, f"incidents/{incident}/before").json()["candidates"]
    boss = reader(service)
    assert boss.sign_in(active_operator(service, "health")).status_code == 303
    page = boss.get(f"/console/operator/incidents/{incident}").text

    of_bank = [one for one in found if one["happening"]["entityId"] == bank.entity_id]
    assert (of_bank[0]["happening"]["kind"], of_bank[0] in mine) == ("secret", True)
    assert bank.entity_id not in {one["happening"]["entityId"] for one in theirs}
    assert [one["score"] for one in found] == sorted((one["score"] for one in found), reverse=True)
    assert "What changed?" in page
    assert "secret reset" in page


def test_a_change_of_the_day_before_is_listed_however_many_hours_ago(
    service: Service, noc: Operator
) -> None:
    bank = new_member(service, "FIP")
    assert bank.reset(oldSecretValidity=0).status_code == 200
    incident = open_incident(service, bank.entity_id, ago=-timedelta(hours=20))

    found = noc.get(f"/incidents/{incident}/before").json()["candidates"]

    of_bank = {one["happening"]["kind"] for one in found if one["happening"]["entityId"]}
    assert "secret" in of_bank
    assert len(found) <= 5
