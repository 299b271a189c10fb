"""A member's registration page: findings, difference, submission by the rules of /entityInfo."""

import html
import json
import re

import pytest
from tests.support.members import Member, new_member
from tests.support.people.console import Reader, reader
from tests.support.registry.registry_payloads import jwk
from tests.support.service import Service

_DRAFT = re.compile(r'<textarea id="payload"[^>]*>(.*?)</textarea>', re.DOTALL)


@pytest.fixture(scope="module")
def member(service: Service) -> Member:
    """The member whose registration goes from nothing to a second version."""
    return new_member(service, "FIU")


@pytest.fixture(scope="module")
def browser(member: Member) -> Reader:
    signed_in = reader(member.service)
    assert signed_in.sign_in(member.email).status_code == 303
    return signed_in


def page_of(member: Member) -> str:
    return f"/console/entity/{member.entity_id}/registration"


def draft(browser: Reader, member: Member) -> dict[str, dict[str, object]]:
    found = _DRAFT.search(browser.get(page_of(member)).text)
    assert found
    payload = json.loads(html.unescape(found[1]))
    assert isinstance(payload, dict)
    return payload


def complete(payload: dict[str, dict[str, object]]) -> dict[str, dict[str, object]]:
    """The draft with all that its member must add, whether or not it was submitted before."""
    payload["entityinfo"] |= {
        "code": "REG-1",
        "baseurl": "v2:https://api.member.example/v2",
        "ips": ["198.51.100.7"],
        "certificate": jwk(7701),
    }
    return payload


def test_a_first_draft_says_all_that_is_missing(service: Service) -> None:
    member, browser = new_member(service, "FIU"), reader(service)
    assert browser.sign_in(member.email).status_code == 303
    page = browser.get(page_of(member)).text

    for path in ("$.entityinfo.code", "$.entityinfo.baseurl", "$.entityinfo.certificate"):
        assert f'<code class="path">{path}' in page
    assert "4 fields to fill in." in page
    assert "need attention" not in page
    assert draft(browser, member)["entityinfo"]["id"] == member.entity_id


@pytest.mark.parametrize(("kind", "fields"), [("AA", 6), ("FIP", 5), ("FIU", 4)])
def test_a_first_draft_of_each_kind_opens_calm(service: Service, kind: str, fields: int) -> None:
    """Nothing is wrong before anything was typed, and nothing is chosen that one must notice."""
    member, browser = new_member(service, kind), reader(service)
    assert browser.sign_in(member.email).status_code == 303

    page = browser.get(page_of(member)).text

    assert f"{fields} fields to fill in." in page
    assert "verdict open" in page
    assert draft(browser, member)["entityinfo"]["fitypes"] == []


def test_findings_come_as_a_fragment_while_one_types(browser: Reader, member: Member) -> None:
    page = page_of(member)
    fields = {"csrf_token": browser.word(page), "payload": '{"ver": "1.0",}'}
    fragment = browser.post(f"{page}/check", fields, **{"HX-Request": "true"})

    assert fragment.status_code == 200
    assert "<html" not in fragment.text
    assert "1 field needs attention" in fragment.text
    assert 'id="verdict" role="status" hx-swap-oob="true"' in fragment.text


@pytest.mark.parametrize("act", ["check", "submit"])
def test_a_draft_that_is_nested_too_deeply_is_a_finding(
    browser: Reader, member: Member, act: str
) -> None:
    found = browser.act(page_of(member), f"{page_of(member)}/{act}", payload="[" * 50_000)

    assert found.status_code == {"check": 200, "submit": 400}[act]
    assert "it is nested deeper than 16" in found.text


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "-----BEGIN PUBLIC KEY-----\nMAwwBQYDKgMEAwMAq80=\n-----END PUBLIC KEY-----",
            "That is not an RSA key",
        ),
        (json.dumps(jwk(7701) | {"kid": "\ud800"}), "That is not a public key in PEM"),
    ],
    ids=["a kind of key that no library knows", "half of a character"],
)
def test_what_is_no_key_of_ours_is_explained(
    browser: Reader, member: Member, text: str, says: str
) -> None:
    found = browser.act(page_of(member), f"{page_of(member)}/key", text=text)

    assert found.status_code == 200
    assert says in found.text


def test_a_draft_is_submitted_corrected_and_shown_with_its_difference(
    browser: Reader, member: Member
) -> None:
    page, payload = page_of(member), complete(draft(browser, member))
    sent = browser.act(page, f"{page}/submit", payload=json.dumps(payload))
    assert sent.headers["location"].endswith("told=submitted"), sent.text
    assert "awaiting the operator" in browser.get(page.removesuffix("/registration")).text

    versions = browser.get(f"{page}?export=versions").text.splitlines()
    assert versions[0] == "\ufeffVersion,Status,Submitted,Decided,Reason"
    assert versions[1].startswith("1,submitted,")

    waiting = browser.get(page).text
    assert "Version 1 has been awaiting approval since" in waiting
    assert "No changes to submit: equal to the pending version." in waiting
    again = draft(browser, member)
    again["entityinfo"] |= {"name": "Another Name", "ips": ["198.51.100.7", "198.51.100.8"]}
    checked = browser.act(page, f"{page}/check", payload=json.dumps(again))
    assert "<td><code>name</code>" in checked.text
    both = "<code>198.51.100.7</code><br><code>198.51.100.8</code>"
    assert (
        f'<td class="words"><code>198.51.100.7</code></td><td class="words">{both}' in checked.text
    )
    assert "No errors in this draft" in checked.text
    assert "Changes to the pending version" in checked.text

    why = ("--reason", "no contract")
    member.service.cli("registry", "reject", member.entity_id, *why)
    rejected = browser.get(page).text
    assert "Version 1 was rejected: no contract" in rejected
    assert "Equal to version 1, which was rejected." in rejected
    checked = browser.act(page, f"{page}/check", payload=json.dumps(again))
    assert "<strong>No errors in this draft." in checked.text


def test_a_requester_that_is_another_is_found_before_one_submits(
    browser: Reader, member: Member
) -> None:
    page, payload = page_of(member), complete(draft(browser, member))
    payload["requester"]["id"] = "SOMEBODY-ELSE"
    checked = browser.act(page, f"{page}/check", payload=json.dumps(payload))

    assert "1 field needs attention" in checked.text
    assert (
        '$.requester.id</code> <p class="says">is another entity&#39;s. '
        f'<span class="quiet">Allowed: {member.entity_id}' in checked.text
    )


def test_an_entry_of_another_is_not_taken(browser: Reader, member: Member) -> None:
    page, payload = page_of(member), complete(draft(browser, member))
    payload["entityinfo"]["id"] = "SOMEBODY-ELSE"
    refused = browser.act(page, f"{page}/submit", payload=json.dumps(payload))

    assert refused.status_code == 400
    assert "$.entityinfo.id" in refused.text
