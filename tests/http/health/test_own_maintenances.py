"""A member announces so many maintenances that its page can show them, and no more."""

from datetime import datetime, timedelta

from tests.support.alarm_network import as_entity
from tests.support.service import Member

MOST = 10


def test_one_more_maintenance_than_ten_waits_until_one_is_ended(member: Member) -> None:
    own, headers = f"{member.service.root}/metrics/perf/v1/maintenance", as_entity(member)
    now = datetime.fromisoformat(member.read().json()["timestamp"])
    order = {"ends": (now + timedelta(hours=2)).isoformat(), "reason": "new disks"}

    made = [member.client.post(own, json=order, headers=headers) for _ in range(MOST)]
    refused = member.client.post(own, json=order, headers=headers)

    assert {one.status_code for one in made} == {200}
    assert (refused.status_code, refused.json()["errorCode"]) == (409, "Conflict")
    end = f"{own}/{made[0].json()['silence']['silenceId']}/end"
    assert member.client.post(end, json={}, headers=headers).status_code == 200
    assert member.client.post(own, json=order, headers=headers).status_code == 200
