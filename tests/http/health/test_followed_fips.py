"""The FIPs that a FIU follows, by its programs and by command (decision 0041)."""

import json

import pytest
from tests.support.members import Member, new_member
from tests.support.service import Service

PATH = "/metrics/perf/v1/followed-fips"


@pytest.fixture(scope="module")
def fiu(service: Service) -> Member:
    return new_member(service, "FIU")


@pytest.fixture(scope="module")
def bank(service: Service) -> Member:
    return new_member(service, "FIP")


def test_a_program_of_a_fiu_follows_again_and_again_and_ends_it(fiu: Member, bank: Member) -> None:
    token = fiu.entity_token(fiu.secret()).json()["accessToken"]
    headers = {"Authorization": f"Bearer {token}"}
    one = f"{fiu.service.root}{PATH}/{bank.entity_id}"

    def listed(method: str, url: str) -> object:
        answer = fiu.client.request(method, url, headers=headers)
        assert answer.status_code == 200, answer.text
        return answer.json()["fips"]

    assert [listed("PUT", one), listed("PUT", one)] == [[bank.entity_id]] * 2
    assert listed("GET", f"{fiu.service.root}{PATH}") == [bank.entity_id]
    assert [listed("DELETE", one), listed("DELETE", one)] == [[], []]
    refused = fiu.client.put(f"{fiu.service.root}{PATH}/{fiu.entity_id}", headers=headers)

    assert refused.status_code == 409
    assert "fips must be FIPs of this network" in refused.json()["errorMsg"]
    answer = fiu.client.get(
        "/v1/entity/activity", params={"entityId": fiu.entity_id}, headers=fiu.bearer()
    )
    events = [one["event"] for one in answer.json()["events"]]
    assert events.count("metrics:fips:follow") == 2


def test_an_admin_of_a_fiu_follows_by_command(fiu: Member, bank: Member) -> None:
    fiu.service.cli("login", fiu.email, "--password-stdin", stdin=fiu.password)

    followed = fiu.service.cli("entity", "follow", fiu.entity_id, bank.entity_id, "--json")
    listed = fiu.service.cli("entity", "followed", fiu.entity_id)
    ended = fiu.service.cli("entity", "unfollow", fiu.entity_id, bank.entity_id, "--json")

    assert json.loads(followed.stdout) == [bank.entity_id]
    assert bank.entity_id in listed.stdout
    assert json.loads(ended.stdout) == []
