"""The public status by webhook: by email first, then by the address itself (decision 0117)."""

import json
import re
import secrets
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
import sqlalchemy as sa
from tests.http.console.test_status_subscription import ASK, link_to, someone, words
from tests.support.alarm_network import emails_to
from tests.support.people.console import Reader, reader
from tests.support.service import Service
from tests.support.webhook_sink import Posted, WebhookSink, webhook_sink

from mudra.bootstrap.dependencies import Dependencies

KEY = re.compile(r"whsec_[A-Za-z0-9+/=]{44}")
UNPROVEN = "Your webhook has to answer a challenge"


def asked(service: Service, url: str, email: str = "") -> tuple[Reader, str]:
    """Ask for a subscription; with the path of its link."""
    browser, email = reader(service), email or someone()
    answer = browser.post(ASK, {"email": email, "fip": "", "url": url})
    assert answer.status_code == 202, words(answer)
    return browser, link_to(service, email)


def confirmed(service: Service, url: str) -> tuple[Reader, str, str]:
    browser, link = asked(service, url)
    page = browser.post(f"{link}/confirm", {}).text
    assert UNPROVEN in page
    return browser, link, KEY.findall(page)[0]


def rightly(posted: Posted) -> bytes:
    return json.dumps({"challenge": posted.data["data"].get("challenge", "")}).encode()


def a_sink() -> AbstractContextManager[WebhookSink]:
    """A receiver at an address of its own: limits count by host."""
    low, high = secrets.randbelow(250), secrets.randbelow(250)
    return webhook_sink(f"127.7.{high}.{low + 2}")


def challenged(service: Service, browser: Reader, link: str, sink: WebhookSink) -> None:
    """Send a challenge, and wait until it has come."""
    assert browser.post(f"{link}/challenge", {}).status_code == 200
    service.wait_until(lambda: bool(sink.posted))


def nothing_waits(service: Service, url: str) -> bool:
    """Whether what was sent to an address is over."""

    async def count(dependencies: Dependencies) -> int:
        query = "SELECT count(*) FROM webhook_message JOIN health_webhook USING (webhook_id) WHERE url = :url"
        async with dependencies.database.transaction() as transaction:
            return await transaction.connection.scalar(sa.text(query), {"url": url}) or 0

    return service.in_store(count) == 0


def test_it_begins_when_email_and_address_have_both_said_so(service: Service) -> None:
    with a_sink() as sink:
        sink.answer, sink.answers = rightly, [200]
        browser, link, key = confirmed(service, sink.url)
        again = browser.post(f"{link}/confirm", {}).text
        assert sink.posted == []

        challenged(service, browser, link, sink)
        service.wait_until(lambda: "You are subscribed" in browser.get(link).text)
        browser.post(f"{link}/challenge", {})
        ended = browser.post(f"{link}/end", {})

    (challenge,) = sink.posted
    assert challenge.data["type"] == "subscription.challenge"
    assert challenge.is_signed_by(key)
    assert KEY.findall(again + browser.get(link).text) == []
    assert "The subscription has ended" in ended.text
    log = (service.data_dir / "mudra.log").read_text()
    assert key not in log
    assert sink.url not in log
    assert challenge.data["data"]["challenge"] not in log


@pytest.mark.parametrize(
    ("status", "answer"),
    [
        (200, lambda _: b""),
        (200, lambda posted: posted.body),
        (200, lambda posted: rightly(posted) + b" " * 1024),
        (200, lambda posted: rightly(posted)[:-1] + b', "also": 1}'),
        (200, lambda _: b'{"challenge": "' + b"A" * 43 + b'"}'),
        (302, rightly),
        (403, rightly),
    ],
    ids=["nothing", "all", "long", "more", "wrong", "redirect", "refused"],
)
def test_what_does_not_prove_it_looks_like_what_was_never_called(
    service: Service, status: int, answer: Callable[[Posted], bytes]
) -> None:
    with a_sink() as sink:
        sink.answer, sink.answers, sink.location = answer, [status] * 3, f"{sink.url}/elsewhere"
        browser, link, _ = confirmed(service, sink.url)
        before = words(browser.get(link))
        sink.may_answer.clear()
        challenged(service, browser, link, sink)
        during = words(browser.get(link))
        sink.may_answer.set()
        service.wait_until(lambda: nothing_waits(service, sink.url))
        after = words(browser.get(link))

    assert before == during == after
    assert UNPROVEN in before
    assert {one.path for one in sink.posted} == {"/alarms"}


def test_five_challenges_a_day_whether_they_fail_at_once_or_late(service: Service) -> None:
    statuses = []
    for answers_late in (True, False):
        with a_sink() as sink:
            browser, link, _ = confirmed(service, sink.url)
            if answers_late:
                sink.may_answer.clear()
            statuses.append([browser.post(f"{link}/challenge", {}).status_code for _ in range(6)])
            refused = browser.post(f"{link}/challenge", {})
            sink.may_answer.set()
        assert "Too many webhooks or challenges" in refused.text
        assert len(sink.posted) <= 5

    assert statuses == [[200] * 5 + [429]] * 2


@pytest.mark.parametrize(
    "url",
    [
        "ftp://receiver.example/",
        "https://me:secret@receiver.example/",
        "javascript:alert(1)",
        "https://",
        f"https://receiver.example/{'a' * 500}",
    ],
)
def test_what_is_no_address_of_a_webhook_is_refused(service: Service, url: str) -> None:
    refused = reader(service).post(ASK, {"email": someone(), "fip": "", "url": url})

    assert refused.status_code == 400
    assert "Enter a public https address" in refused.text


def test_no_email_has_what_was_typed_as_the_address(service: Service) -> None:
    email = someone()
    asked(service, "https://win-a-prize.example/now", email)

    (text,) = emails_to(service, email)

    assert "to post messages to a webhook" in text
    assert "prize" not in text


def test_operators_and_members_do_not_have_those_of_the_public(service: Service) -> None:
    with a_sink() as sink:
        confirmed(service, sink.url)
        listed = service.cli("health", "webhooks", "--json").stdout

    assert sink.url not in listed
