"""Emails about the public status: asked for, confirmed by the link alone, ended by one click."""

import re
import uuid

import httpx2
import pytest
from tests.http.console.stored_incidents import end_incident, open_incident
from tests.support.alarm_network import emails_to
from tests.support.mailbox import mails
from tests.support.members import new_member, onboard
from tests.support.people.console import SAME_ORIGIN, Reader, reader
from tests.support.service import Service

LINK = re.compile(r"https?://\S+/status/subscription/[A-Za-z0-9_-]{43}")
ASK = "/status/subscribe"


def someone() -> str:
    return f"{uuid.uuid4().hex[:12]}@reader.example"


def link_to(service: Service, email: str) -> str:
    """Return the path of the link that was sent to an address."""
    service.wait_until(lambda: bool(emails_to(service, email)))
    (found,) = LINK.findall(emails_to(service, email)[0])
    return found.partition("/status")[1] + found.partition("/status")[2]


def requests_to_confirm(service: Service, email: str) -> int:
    """How many emails asked an address to confirm; others may tell it of other tests' incidents."""
    return sum("confirm your subscription" in one["subject"] for one in mails(service, email))


def words(answer: httpx2.Response) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.text))


def subscribed(service: Service, browser: Reader, email: str) -> str:
    assert browser.post(ASK, {"email": email, "fip": ""}).status_code == 202
    link = link_to(service, email)
    assert "You are subscribed" in browser.post(f"{link}/confirm", {}).text
    return link


def test_the_owner_of_an_address_confirms_and_ends_by_the_link_of_the_email(
    service: Service,
) -> None:
    browser, email = reader(service), someone()
    assert browser.post(ASK, {"email": f"  {email.upper()} ", "fip": ""}).status_code == 202
    link = link_to(service, email)

    opened = [browser.get(link), browser.get(link)]  # also by scanners of mail
    confirmed = browser.post(f"{link}/confirm", {})
    after = browser.get(link)
    ended = browser.post(f"{link}/end", {})

    assert all("Confirm your subscription" in one.text and email in one.text for one in opened)
    assert all(one.headers["referrer-policy"] == "no-referrer" for one in opened)
    assert "You are subscribed" in confirmed.text
    assert "You are subscribed" in after.text
    assert "The subscription has ended" in ended.text
    assert browser.get(link).status_code == 410
    assert browser.post(f"{link}/confirm", {}).status_code == 410


def test_one_click_of_a_mail_program_ends_it_and_a_second_is_answered_alike(
    service: Service,
) -> None:
    link = subscribed(service, reader(service), someone())
    other = service.client()  # no cookie, no origin, as RFC 8058 has it

    clicks = [
        other.post(
            f"{service.root}{link}/end",
            content="List-Unsubscribe=One-Click",
            headers={"Content-Type": "application/x-www-form-urlencoded"},
        )
        for _ in range(2)
    ]

    assert [one.status_code for one in clicks] == [200, 200]
    assert words(clicks[0]) == words(clicks[1])


def test_the_answer_is_the_same_for_every_address(service: Service) -> None:
    browser, fresh, known = reader(service), someone(), someone()
    subscribed(service, browser, known)
    member = new_member(service)

    answers = [browser.post(ASK, {"email": one, "fip": ""}) for one in (known, member.email, fresh)]
    link_to(service, fresh)  # asked last: the job has looked at all of them

    assert {(one.status_code, words(one)) for one in answers} == {(202, words(answers[0]))}
    asked = [requests_to_confirm(service, one) for one in (known, member.email, fresh)]
    assert asked == [1, 1, 1]


def test_a_new_subscriber_hears_of_no_incident_that_began_before(service: Service) -> None:
    browser, email, fip_id = reader(service), someone(), onboard(service, "FIP")[0]
    incident_id = open_incident(service, fip_id)
    service.advance("PT1M")  # the status is at most a minute old
    service.wait_until(lambda: browser.get(f"/status/fip/{fip_id}").status_code == 200)
    assert browser.post(ASK, {"email": email, "fip": fip_id}).status_code == 202
    browser.post(f"{link_to(service, email)}/confirm", {})

    end_incident(service, incident_id)
    service.advance("PT1M")
    service.wait_until(lambda: "works again" in mails(service, email)[-1]["subject"])

    assert len(mails(service, email)) == 2


def test_three_links_at_most_are_sent_to_an_address_in_a_day(service: Service) -> None:
    email, last = someone(), someone()
    browser = reader(service)
    for number in range(1, 4):
        browser.post(ASK, {"email": email, "fip": ""})
        service.wait_until(lambda: len(emails_to(service, email)) == number)  # noqa: B023

    browser.post(ASK, {"email": email, "fip": ""})
    browser.post(ASK, {"email": last, "fip": ""})
    link_to(service, last)

    assert len(emails_to(service, email)) == 3


def test_a_sender_has_to_wait_and_others_do_not(service: Service) -> None:
    browser, other = reader(service), reader(service)
    wrong = {"email": "no address", "fip": ""}
    assert [browser.post(ASK, wrong).status_code for _ in range(3)] == [400] * 3

    taken = [browser.post(ASK, {"email": someone(), "fip": ""}) for _ in range(11)]

    assert [one.status_code for one in taken[:10]] == [202] * 10
    assert taken[10].status_code == 429
    assert 0 < int(taken[10].headers["retry-after"]) <= 3600
    assert "Too many requests from your network" in taken[10].text
    assert other.post(ASK, {"email": someone(), "fip": ""}).status_code == 202


@pytest.mark.parametrize(
    "email", ["", "no address", "a@b@c.example", "x@y.example\r\nBcc: z@y.example"]
)
def test_what_is_no_address_is_refused_with_what_was_typed(service: Service, email: str) -> None:
    refused = reader(service).post(ASK, {"email": email, "fip": ""})

    assert refused.status_code == 400
    assert "Enter an email address such as" in refused.text


def test_a_form_of_another_site_and_an_unknown_institution_find_nothing(service: Service) -> None:
    browser = reader(service)
    fields = {"email": someone(), "fip": ""}

    cross = browser.post(ASK, fields, **{"Sec-Fetch-Site": "cross-site"})
    unknown = browser.post(ASK, fields | {"fip": "NO-SUCH-FIP"})

    assert SAME_ORIGIN
    assert [cross.status_code, unknown.status_code] == [404, 404]


def test_the_form_and_the_email_are_in_the_language_of_the_page(service: Service) -> None:
    fip_id, _ = onboard(service, "FIP")
    browser, email = reader(service), someone()
    page = f"/status/fip/{fip_id}?lang=hi"
    service.advance("PT1M")  # the status is at most a minute old
    service.wait_until(lambda: browser.get(page).status_code == 200)
    shown = browser.get(page).text
    action = re.search(r'action="(/status/subscribe[^"]*)"', shown)
    assert action
    assert f'name="fip" value="{fip_id}"' in shown

    asked = browser.post(action[1], {"email": email, "fip": fip_id})
    link = link_to(service, email)

    assert "अपना मेलबॉक्स देखें" in asked.text
    assert "पुष्टि" in emails_to(service, email)[0]
    assert "ईमेल सूचना की पुष्टि करें" in browser.get(link).text
