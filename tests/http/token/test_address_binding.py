"""Binding of an entity's credentials to the addresses that its registry entry lists."""

import json
from dataclasses import replace
from typing import Any, get_args

import pytest
from tests.http.token.bound_member import BINDING, Bound, member_with_entry
from tests.support.http_clients import new_address
from tests.support.mailbox import mails
from tests.support.members import new_member
from tests.support.people.console import reader
from tests.support.people.operators import Operator, new_operator
from tests.support.registry.registry_members import Registry
from tests.support.service import Service

from mudra.http.token.address_binding import Binding
from mudra.tokens.secrets.address_binding import AddressBinding


@pytest.fixture
def bound(service: Service) -> Bound:
    """A member of its own for a test, which may change it."""
    return bound_member(service)


@pytest.fixture(scope="module")
def kept(service: Service) -> Bound:
    """A member that each test leaves as it is."""
    return bound_member(service)


def bound_member(service: Service) -> Bound:
    one = member_with_entry(service)
    assert one.switch("enforce").status_code == 200
    return one


@pytest.fixture(scope="module")
def operator(service: Service) -> Operator:
    return new_operator(service, "members")


def test_the_api_has_the_words_of_the_rule() -> None:
    words = get_args(get_args(Binding)[0])

    assert set(words) == {one.value for one in AddressBinding}


def test_only_listed_addresses_get_tokens(kept: Bound) -> None:
    own, other = kept.registry.member.client, kept.service.client()

    refused = kept.generate(other)

    assert (refused.status_code, refused.json()["errorCode"]) == (401, "AddressNotListed")
    assert "registry entry" in refused.json()["errorMsg"]
    assert kept.generate(own).status_code == 200
    assert kept.by_secret(own).status_code == 200
    by_oauth = kept.by_secret(other)
    assert (by_oauth.status_code, by_oauth.json()["error"]) == (401, "invalid_client")
    assert "registry entry" in by_oauth.json()["error_description"]


def test_the_registered_key_is_bound_too(kept: Bound) -> None:
    assert kept.by_key(kept.registry.member.client).status_code == 200

    refused = kept.by_key(kept.service.client())

    assert (refused.status_code, refused.json()["error"]) == (401, "invalid_client")
    assert "registry entry" in refused.json()["error_description"]


@pytest.mark.parametrize("path", ["introspect", "revoke"])
def test_the_secret_is_bound_wherever_it_is_presented(kept: Bound, path: str) -> None:
    assert kept.by_secret(kept.service.client(), path, token="none").status_code == 401
    assert kept.by_secret(kept.registry.member.client, path, token="none").status_code == 200


def test_a_wrong_secret_learns_nothing_of_the_binding(kept: Bound) -> None:
    free = member_with_entry(kept.service)
    other = kept.service.client()

    answers = [one.generate(other, "wrong") for one in (kept, free)]

    assert [one.json()["errorCode"] for one in answers] == ["Unauthorized"] * 2
    assert len({one.json()["errorMsg"] for one in answers}) == 1


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Forwarded-For": "{listed}"},
        {"X-Forwarded-For": "{listed}, {listed}"},
        {"Forwarded": "for={listed}"},
        {"X-Real-IP": "{listed}"},
        {"X-Client-IP": "{listed}"},
    ],
)
def test_an_address_that_a_caller_only_claims_is_not_its_own(
    kept: Bound, headers: dict[str, str]
) -> None:
    claimed = {name: text.format(listed=kept.listed) for name, text in headers.items()}

    assert kept.generate(kept.service.client(), **claimed).status_code == 401


def test_people_read_and_reset_the_secret_from_everywhere(bound: Bound) -> None:
    elsewhere = replace(bound.registry.member, client=bound.service.client())

    assert elsewhere.read().status_code == 200
    assert elsewhere.reset().status_code == 200


def test_an_entry_that_goes_live_binds_to_its_addresses_at_once(bound: Bound) -> None:
    moved, moved_to = bound.service.client(), new_address()
    assert bound.generate(moved).status_code == 401

    bound.list_addresses(moved_to)

    assert bound.generate(bound.service.client(moved_to)).status_code == 200
    assert bound.generate(bound.registry.member.client).status_code == 401


def test_a_range_of_the_entry_is_read_as_one(service: Service) -> None:
    one = member_with_entry(service, "127.200.0.0/16")
    bind = one.switch("enforce", evenSo=True)

    assert bind.status_code == 200, bind.text
    assert one.generate(service.client("127.200.7.9")).status_code == 200
    assert one.generate(service.client("127.201.7.9")).status_code == 401


def test_an_entity_without_listed_addresses_cannot_be_bound(service: Service) -> None:
    without = Registry(new_member(service)).member
    body = {"entityId": without.entity_id, "binding": "enforce"}

    refused = without.client.post(BINDING, json=body, headers=without.bearer())

    assert (refused.status_code, refused.json()["errorCode"]) == (409, "Conflict")


def test_what_would_be_refused_must_be_accepted_first(service: Service) -> None:
    one, elsewhere = member_with_entry(service), new_address()
    assert one.generate(service.client(elsewhere)).status_code == 200
    service.wait_until(lambda: one.is_seen(elsewhere))

    warned = one.switch("enforce")

    assert (warned.status_code, warned.json()["errorCode"]) == (409, "Conflict")
    assert elsewhere in warned.json()["errorMsg"]
    assert one.generate(service.client(elsewhere)).status_code == 200
    assert one.switch("enforce", evenSo=True).json()["enforced"] is True
    assert one.generate(service.client(elsewhere)).status_code == 401


def test_tokens_by_the_registered_key_are_seen_before_the_switch(service: Service) -> None:
    one, elsewhere = member_with_entry(service), new_address()
    assert one.by_key(service.client(elsewhere)).status_code == 200

    assert one.is_seen(elsewhere)


def test_a_member_switches_it_off_from_everywhere(bound: Bound) -> None:
    elsewhere = replace(bound.registry.member, client=bound.service.client())

    answer = elsewhere.client.post(
        BINDING,
        json={"entityId": bound.entity_id, "binding": "network"},
        headers=elsewhere.bearer(),
    )

    assert answer.json()["enforced"] is False
    assert bound.generate(elsewhere.client).status_code == 200


def test_an_operator_lets_a_member_in_again(bound: Bound, operator: Operator) -> None:
    path = f"/members/{bound.entity_id}/address-binding"
    assert operator.get(path).json()["enforced"] is True

    done = operator.post(path, binding="watch")

    assert (done.status_code, done.json()["enforced"]) == (200, False)
    assert bound.generate(bound.service.client()).status_code == 200
    assert operator.post("/members/NO-SUCH-FIP/address-binding", binding="watch").status_code == 404


def test_another_member_s_admin_switches_nothing(service: Service, kept: Bound) -> None:
    stranger = new_member(service)
    body = {"entityId": kept.entity_id, "binding": "network"}

    assert stranger.client.post(BINDING, json=body, headers=stranger.bearer()).status_code == 401
    assert (
        stranger.client.get(
            BINDING, params={"entityId": kept.entity_id}, headers=stranger.bearer()
        ).status_code
        == 401
    )
    assert kept.switch("watch").status_code == 401, "exempting is the operator's"
    assert kept.generate(service.client()).status_code == 401


def test_refusals_and_switches_are_in_the_audit_and_admins_are_written_to(bound: Bound) -> None:
    other = new_address()
    assert bound.generate(bound.service.client(other)).status_code == 401

    def refusals() -> list[dict[str, Any]]:
        return [one for one in bound.audit() if one["reason"] == "address-not-listed"]

    bound.service.wait_until(lambda: bool(refusals()))
    assert refusals()[0]["address"] == other
    switched = [one for one in bound.audit() if one["event"] == "entity:addresses:change"]
    assert switched[0]["detail"]["to"] == "enforce"
    mail = mails(bound.service, bound.registry.member.email)[-1]
    assert mail["subject"].endswith(": only its listed addresses get tokens")
    assert f"({bound.entity_id}) gets tokens" in mail["text"]


def test_the_page_shows_what_was_seen_and_switches(service: Service) -> None:
    one, elsewhere = member_with_entry(service), new_address()
    assert one.generate(service.client(elsewhere)).status_code == 200
    service.wait_until(lambda: one.is_seen(elsewhere))
    browser = reader(service)
    browser.sign_in(one.registry.member.email)
    page = f"/console/entity/{one.entity_id}/addresses"
    assert elsewhere in browser.get(page).text

    warned = browser.act(page, page, binding="enforce")
    assert warned.status_code == 409
    assert one.view()["enforced"] is False
    assert browser.act(page, page, binding="enforce", evenSo="yes").status_code == 303

    assert one.view()["enforced"] is True
    assert "Accept any address" in browser.get(page).text
    assert browser.act(page, page, binding="network").status_code == 303
    assert one.view()["enforced"] is False


def test_the_command_shows_and_switches(bound: Bound, operator: Operator) -> None:
    member, cli = bound.registry.member, bound.service.cli
    cli("login", member.email, "--password-stdin", stdin=member.password)

    def run(*words: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(
            cli("registry", "binding", bound.entity_id, *words, "--json").stdout
        )
        return found

    assert run()["enforced"] is True
    assert run("network")["enforced"] is False
    assert "accepted" in cli("registry", "binding", bound.entity_id).stdout
    assert run("enforce", "--even-so")["enforced"] is True
    listed = json.loads(cli("registry", "addresses", "--json").stdout)
    assert bound.entity_id in listed["enforced"]


def test_a_day_has_ten_switches_by_admins_and_none_is_counted_that_changes_nothing(
    bound: Bound, operator: Operator
) -> None:
    words = ["enforce", *["network", "enforce"] * 4, "network"]  # the first one changes nothing

    answers = [bound.switch(word).status_code for word in [*words, "network"]]
    refused = bound.switch("enforce")

    assert answers == [200] * 11
    assert (refused.status_code, refused.json()["errorCode"]) == (429, "TooManyAttempts")
    assert 86_000 < int(refused.headers["Retry-After"]) <= 86_400
    assert bound.view()["enforced"] is False
    browser = reader(bound.service)
    browser.sign_in(bound.registry.member.email)
    page = f"/console/entity/{bound.entity_id}/addresses"
    assert "at most 10 times in 24 hours" in browser.act(page, page, binding="enforce").text
    path = f"/members/{bound.entity_id}/address-binding"
    assert operator.post(path, binding="enforce").json()["enforced"] is True
