"""Addresses of chats, what limits count them by, and the link of a channel."""

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace
from tests.support.metrics.incidents import an_incident

from mudra.metrics.incidents.incident import Ending, Fip
from mudra.metrics.notifications.webhook_formats import Format, slack_body, teams_body
from mudra.metrics.subscriptions.chat_subscription import (
    channel_link,
    confirmation,
    counted_by,
    format_of,
    is_link_of,
    news_message,
    subscription_in,
)
from mudra.metrics.subscriptions.public_news import News, NewsState
from mudra.shared.secret_text import SecretText

SLACK = "https://hooks.slack.com/services/T024/B01/abcDEF123"
AZURE = "https://prod-07.centralindia.logic.azure.com:443/workflows/0123abcd/triggers/manual?sig=x"
POWER = "https://default1.2.environment.api.powerplatform.com/powerautomate/automations/direct/workflows/0123abcd/triggers"
OFFICE = "https://bank.webhook.office.com/webhookb2/0123abcd@4567/IncomingWebhook/89/ab"
NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
ID = "7d8e0c5e-0f2c-4f7c-9b49-0d6f6a1c2b3d"


@pytest.mark.parametrize(
    ("url", "format_"),
    [
        (SLACK, Format.SLACK),
        (AZURE, Format.TEAMS),
        (POWER, Format.TEAMS),
        (OFFICE, Format.TEAMS),
        ("https://receiver.example/services/T1/B1/x", Format.STANDARD),
        ("https://hooks.slack.com.evil.example/services/T1/B1/x", Format.STANDARD),
        ("https://evilhooks.slack.com.example/x", Format.STANDARD),
        ("http://hooks.slack.com/services/T024/B01/abc", None),
        ("https://HOOKS.slack.com./services/", None),
        ("https://x.logic.azure.com/other", None),
    ],
)
def test_the_host_says_what_is_read_and_a_vendors_other_paths_are_refused(
    url: str, format_: Format | None
) -> None:
    assert format_of(url) is format_


def test_limits_count_customers_of_a_chat_not_its_one_host() -> None:
    assert counted_by(SLACK) == "hooks.slack.com/T024"
    assert counted_by(SLACK) != counted_by(SLACK.replace("T024", "T025"))
    assert counted_by(AZURE) == "prod-07.centralindia.logic.azure.com/0123abcd"
    assert counted_by("https://Receiver.example/a/b") == "receiver.example"


def test_only_the_link_made_with_the_key_is_one() -> None:
    key, other = SecretText("whsec_one"), SecretText("whsec_two")
    link = channel_link(ID, key)

    assert subscription_in(link) == ID
    assert is_link_of(link, ID, key)
    assert not is_link_of(link, ID, other)
    assert not is_link_of(channel_link(ID, other), ID, key)
    assert not is_link_of(link, ID.replace("7", "8"), key)
    assert subscription_in(SecretText("x" * 4000)) is None


def test_a_message_to_the_public_has_no_severity_and_holds_no_markup() -> None:
    message = confirmation("<!channel> *Bank*", SecretText("https://status.example/channel/x"))

    assert b"Severity" not in slack_body(message) + teams_body(message)
    assert b'"plain_text"' in slack_body(message)
    assert b"mrkdwn" not in slack_body(message)


@pytest.mark.parametrize(
    ("succeeded", "ending", "state", "title"),
    [
        (0, Ending.OPEN, NewsState.OPEN, "Bank is disrupted"),
        (188, Ending.OPEN, NewsState.OPEN, "Bank is degraded"),
        (0, Ending.RECOVERED, NewsState.OVER, "Bank works again"),
        (188, Ending.CHANGED, NewsState.OVER, "Bank: changed for good, no outage"),
        (0, Ending.NO_DATA, NewsState.OVER, "Bank: no data since"),
    ],
)
def test_a_channel_reads_how_bad_it_is_and_how_it_ended(
    succeeded: int, ending: Ending, state: NewsState, title: str
) -> None:
    incident = replace(an_incident(Fip("BANK"), NOON, succeeded=succeeded), ending=ending)
    news = News(ID, "BANK", "", state, NOON, None, NOON)

    assert news_message(news, incident, "Bank", "https://x.example").title == title
