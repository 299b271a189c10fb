"""Webhooks hear of planned maintenances: announced, changed, withdrawn, by a member or an operator."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.support.alarm_network import as_entity
from tests.support.members import Member, new_member
from tests.support.people.operators import Operator, new_operator
from tests.support.service import Service
from tests.support.webhook_sink import WebhookSink, webhook_sink

OWN = "/metrics/perf/v1/maintenance"
HOUR = timedelta(hours=1)


class World:
    """A FIP, a FIU that follows it, one that does not, and an operator, each with a webhook."""

    def __init__(self, service: Service, sink: WebhookSink) -> None:
        self.service, self.sink = service, sink
        self.noc: Operator = new_operator(service, "health")
        self.bank: Member = new_member(service, "FIP")
        self.headers = as_entity(self.bank)
        fiu, other = new_member(service, "FIU"), new_member(service, "FIU")
        self.concerned = ("bank", "fiu", "network")
        fips = [self.bank.entity_id]
        self.hook("bank", entityId=self.bank.entity_id)
        self.hook("fiu", entityId=fiu.entity_id, fips=fips)
        self.hook("other", entityId=other.entity_id)
        self.hook("network")

    def hook(self, name: str, **more: Any) -> None:
        answer = self.noc.post("/health/webhooks", url=f"{self.sink.url}/{name}", **more)
        assert answer.status_code == 200, answer.text

    def own(self, path: str = "", **sent: str) -> dict[str, Any]:
        url = f"{self.service.root}{OWN}{path}"
        answer = self.bank.client.post(url, json=sent, headers=self.headers)
        assert answer.status_code == 200, answer.text
        return dict(answer.json()["silence"])

    def after(self, hours: float) -> str:
        now = datetime.fromtimestamp(self.service.wall(), UTC)
        return (now + hours * HOUR).isoformat()

    def heard(self, messages: int) -> list[dict[str, Any]]:
        """Waits for so many messages to each that is concerned; returns them, in their order."""
        self.service.wait_until(lambda: len(self.of("network")) == messages)
        self.service.wait_until(lambda: len(self.of("fiu")) == messages)
        self.service.wait_until(lambda: len(self.of("bank")) == messages)
        assert self.of("bank") == self.of("fiu") == self.of("network")
        assert self.of("other") == []
        return self.of("bank")

    def of(self, name: str) -> list[dict[str, Any]]:
        found = [one.data for one in self.sink.posted if one.path.endswith(f"/{name}")]
        return sorted(found, key=lambda one: str(one["timestamp"]))


def times(of: dict[str, Any]) -> list[datetime]:
    """The times of a message or an answer; the latter has no more than milliseconds."""
    found = [datetime.fromisoformat(of[one]) for one in ("begins", "ends")]
    return [one.replace(microsecond=one.microsecond // 1000 * 1000) for one in found]


def test_a_members_own_is_announced_changed_and_withdrawn(health_service: Service) -> None:
    with webhook_sink() as sink:
        world = World(health_service, sink)
        made = world.own(begins=world.after(30), ends=world.after(32), reason="new disks")
        world.heard(1)
        health_service.advance("PT1S")
        changed = world.own(f"/{made['silenceId']}", ends=world.after(31.5))
        world.heard(2)
        health_service.advance("PT1S")
        # Nothing that a receiver sees of it.
        world.own(f"/{made['silenceId']}", reason="other disks")
        world.own(f"/{made['silenceId']}/end")
        found = world.heard(3)

    assert [one["type"] for one in found] == [
        "maintenance.announced",
        "maintenance.changed",
        "maintenance.withdrawn",
    ]
    assert [times(one["data"]) for one in found] == [times(made), times(changed), times(changed)]
    assert {one["data"]["silenceId"] for one in found} == {made["silenceId"]}
    assert {one["data"]["announcedBy"] for one in found} == {"member"}
    assert "disks" not in str(found)


def test_an_operators_is_announced_and_its_early_end_changes_it(health_service: Service) -> None:
    with webhook_sink() as sink:
        world = World(health_service, sink)
        asked = {"entityId": world.bank.entity_id, "reason": "new disks", "maintenance": True}
        answer = world.noc.post("/health/silences", ends=world.after(2), **asked)
        assert answer.status_code == 200, answer.text
        world.heard(1)
        health_service.advance("PT10M")
        silence = answer.json()["silence"]
        ended = world.noc.post(f"/health/silences/{silence['silenceId']}/end").json()["silence"]
        found = world.heard(2)

    assert [one["type"] for one in found] == ["maintenance.announced", "maintenance.changed"]
    assert [times(one["data"]) for one in found] == [times(silence), times(ended)]
    assert times(ended)[1] < times(silence)[1]
    assert {one["data"]["announcedBy"] for one in found} == {"operator"}


@pytest.mark.parametrize("how", ["silence", "refused"])
def test_neither_a_silence_nor_a_refusal_is_announced(health_service: Service, how: str) -> None:
    with webhook_sink() as sink:
        world = World(health_service, sink)
        asked = {"entityId": world.bank.entity_id, "reason": "x", "maintenance": how == "refused"}
        ends = world.after(2 if how == "silence" else 24 * 31)
        answer = world.noc.post("/health/silences", ends=ends, **asked)
        if how == "silence":
            world.noc.post(f"/health/silences/{answer.json()['silence']['silenceId']}/end")
        # What is announced after it is the first that is heard.
        made = world.own(ends=world.after(3), reason="new disks")
        (found,) = world.heard(1)

    assert answer.status_code == (200 if how == "silence" else 400)
    assert found["data"]["silenceId"] == made["silenceId"]
