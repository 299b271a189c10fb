"""The public status in a channel of Slack or Teams: by email first, then by a reader of the channel."""

import re
import secrets

import pytest
import sqlalchemy as sa
from tests.http.console.test_status_subscription import ASK, someone, words
from tests.http.console.test_status_webhook import KEY, a_sink, asked, nothing_waits
from tests.support.people.console import reader
from tests.support.service import Service

from mudra.bootstrap.dependencies import Dependencies

LINK = re.compile(r"/status/channel/[0-9a-f-]{36}\.[A-Za-z0-9_-]{43}")


def slack_url() -> str:
    """An incoming webhook of a workspace of its own."""
    return f"https://hooks.slack.com/services/T{secrets.token_hex(6).upper()}/B0CHANNEL/xyz123"


def goes_to(service: Service, url: str, sink_url: str) -> None:
    """Let what is posted to an address of a vendor come to a server of this machine."""

    async def act(dependencies: Dependencies) -> None:
        change = "UPDATE health_webhook SET url = :sink WHERE url = :url"
        async with dependencies.database.transaction() as tx:
            done = await tx.connection.execute(sa.text(change), {"sink": sink_url, "url": url})
            assert done.rowcount == 1

    service.in_store(act)


def test_a_channel_gets_messages_once_one_of_its_readers_confirmed(service: Service) -> None:
    url = slack_url()
    browser, link = asked(service, url)
    opted = browser.post(f"{link}/confirm", {})
    with a_sink() as sink:
        goes_to(service, url, sink.url)
        assert sink.posted == []
        browser.post(f"{link}/challenge", {})
        service.wait_until(lambda: bool(sink.posted))
        service.wait_until(lambda: nothing_waits(service, sink.url))
        (message,) = sink.posted
        button = message.data["blocks"][-1]["elements"][0]
        channel = LINK.search(button["url"])
        assert channel is not None, message.body
        seen = words(browser.get(link))
        other = reader(service)
        opened = words(other.get(channel[0]))
        confirmed = words(other.post(f"{channel[0]}/confirm", {}))
        ended = words(other.post(f"{channel[0]}/end", {}))
        gone = other.get(channel[0])

    assert "Confirm it in the channel" in words(opted)
    assert KEY.findall(opted.text) == []
    assert "Confirm it in the channel" in seen
    assert "Confirm the status messages of this channel" in opened
    assert "This channel gets status messages" in confirmed
    assert "hooks.slack.com" not in opened + confirmed
    assert "The subscription has ended" in ended
    assert gone.status_code == 410


def test_a_link_that_was_made_up_opens_nothing(service: Service) -> None:
    browser, link = asked(service, slack_url())
    browser.post(f"{link}/confirm", {})

    async def subscription(dependencies: Dependencies) -> str:
        query = "SELECT subscription_id FROM status_subscription ORDER BY asked_at DESC LIMIT 1"
        async with dependencies.database.transaction() as tx:
            return str(await tx.connection.scalar(sa.text(query)))

    made_up = f"/status/channel/{service.in_store(subscription)}.{'A' * 43}"
    answers = [browser.get(made_up), browser.post(f"{made_up}/confirm", {})]

    assert [one.status_code for one in answers] == [410, 410]
    assert "Confirm it in the channel" in words(browser.get(link))


@pytest.mark.parametrize(
    "url",
    [
        "https://hooks.slack.com/",
        "https://hooks.slack.com/services/T1/../../api/chat.postMessage",
        "https://hooks.slack.com/workflows/T1/B1/x",
        "https://prod-1.westindia.logic.azure.com/anything",
        "https://evil.webhook.office.com/",
    ],
)
def test_another_address_of_a_vendor_is_refused(service: Service, url: str) -> None:
    refused = reader(service).post(ASK, {"email": someone(), "fip": "", "url": url})

    assert refused.status_code == 400
    assert "incoming webhook of Slack" in refused.text
