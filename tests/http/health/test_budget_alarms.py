"""Alarms about error budgets go the way of all alarms: quiet hours, webhooks of one's own."""

from datetime import timedelta
from typing import Any

import pytest
from tests.http.health.level_world import INDIA, LevelWorld
from tests.support.service import Service
from tests.support.webhook_sink import webhook_sink

from mudra.levels.budgets.budget_run import work_out_budgets


@pytest.mark.slow
def test_the_alarm_waits_for_the_end_of_quiet_hours_and_comes_as_its_reader_likes(
    health_service: Service,
) -> None:
    world = LevelWorld(health_service)
    net, bank = world.network, world.network.fips[0]
    local = health_service.advance("PT0S").astimezone(INDIA)
    night = {
        "timeZone": "Asia/Kolkata",
        "quietFrom": f"{local - timedelta(hours=1):%H:%M}",
        "quietUntil": f"{local + timedelta(minutes=150):%H:%M}",
        "breaksQuiet": "none",
        "channel": "both",
    }

    def budget_emails() -> list[dict[str, Any]]:
        mails = net.mails_to(bank.email)
        return [one for one in mails if "error budget" in one["subject"] + one["text"]]

    with webhook_sink() as sink:
        headers = bank.bearer()
        own = {"url": sink.url, "format": "standard"}
        added = bank.client.post("/v1/user/alarm/webhooks", json=own, headers=headers)
        assert added.status_code == 200, added.text
        chosen = bank.client.post("/v1/user/alarm/preferences", json=night, headers=headers)
        assert chosen.status_code == 200, chosen.text
        net.windows(7)  # the reports of an hour ago are settled
        net.settled()
        sent = health_service.in_store(lambda parts: work_out_budgets(parts.transaction))
        asleep = len(budget_emails()), len(sink.posted)
        net.windows(9)
        net.settled()
        net.in_time(lambda: len(budget_emails()) == 1 and len(sink.posted) == 1)

    assert sent >= 1
    assert asleep == (0, 0)
    (email,), (message,) = budget_emails(), sink.posted
    page = f"/console/entity/{bank.entity_id}/levels"
    assert page in email["text"]
    assert "the least severity on your account page" in email["text"]
    assert message.data["type"] == "alarms"
    (alarm,) = (one for one in message.data["data"]["alarms"] if "error budget" in one["title"])
    assert (alarm["incidentId"], alarm["entityId"]) == ("", bank.entity_id)
    assert alarm["link"].endswith(page)
