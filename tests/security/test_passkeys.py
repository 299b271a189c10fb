"""Attacks on passkeys at sign-in: replay, other origins, people, keys and counters."""

import itertools
import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from tests.support.mailbox import mails
from tests.support.members import Member, new_member
from tests.support.passkeys import (
    PROVE,
    SIGN_IN,
    UP,
    UV,
    Options,
    Passkey,
    encode,
    fetch,
    new_passkey,
    sign_in,
)
from tests.support.people.console import Reader, reader
from tests.support.people.operators import active_operator, new_operator
from tests.support.people.second_factor import CODE, user_id
from tests.support.service import Service

CHALLENGE = f"{SIGN_IN}/challenge"


@pytest.fixture(scope="module")
def owner(named: Service) -> Member:
    return new_member(named)


@pytest.fixture(scope="module")
def passkey(named: Service, owner: Member) -> Passkey:
    browser = reader(named)
    assert browser.sign_in(owner.email).status_code == 303
    return new_passkey(browser, named)


def is_open(browser: Reader) -> bool:
    return browser.get("/console/account").status_code == 200


def again(passkey: Passkey) -> Passkey:
    """The same one, later than every earlier use."""
    return passkey.later(next(_counts))


_counts = itertools.count(10)


def test_a_passkey_signs_in_alone_and_is_both_factors(
    named: Service, owner: Member, passkey: Passkey
) -> None:
    browser, page = reader(named), f"/console/entity/{owner.entity_id}"

    done = sign_in(browser, again(passkey).get(fetch(browser, CHALLENGE)), page)

    assert done.headers["location"] == page
    assert browser.get(page).status_code == 200
    chief = new_operator(named)
    events = chief.get("/audit", userId=user_id(named, owner.email)).json()["events"]
    kinds = [one["detail"].get("kind") for one in events if one["event"] == "user:sign_in:succeed"]
    assert kinds[0] == "passkey"


Forge = Callable[[Passkey, Options], str]


def _unlike(**facts: object) -> Forge:
    return lambda passkey, options: replace(passkey, **facts).get(options)


def _client(**facts: object) -> Forge:
    return lambda passkey, options: passkey.get(options, **facts)


def _without_signature(passkey: Passkey, options: Options) -> str:
    answer = json.loads(passkey.get(options))
    answer["response"]["signature"] = encode(bytes(70))
    return json.dumps(answer)


def _named_otherwise(passkey: Passkey, options: Options) -> str:
    return json.dumps({**json.loads(passkey.get(options)), "rawId": encode(b"other")})


FORGED: dict[str, Forge] = {
    "another origin": _unlike(origin="http://evil.example"),
    "another port": _unlike(origin="http://localhost:1"),
    "https": _unlike(origin="https://localhost"),
    "another RP ID": _unlike(rp_id="evil.example"),
    "a subdomain": _unlike(rp_id="sub.localhost"),
    "no user verification": _unlike(flags=UP),
    "no presence": _unlike(flags=UV),
    "inside a frame": _unlike(cross_origin=True),
    "a foreign key": _unlike(key=ec.generate_private_key(ec.SECP256R1())),
    "an unknown credential": _unlike(credential_id=b"no one knows it"),
    "no credential ID": _unlike(credential_id=b""),
    "another person's handle": _unlike(user_handle=bytes(16)),
    "no handle": _unlike(user_handle=b""),
    "an own challenge": _client(challenge=encode(bytes(32))),
    "an empty challenge": _client(challenge=""),
    "the type of a registration": _client(type="webauthn.create"),
    "no signature": _without_signature,
    "two names": _named_otherwise,
    "a registration": lambda passkey, options: passkey.create(options),
    "no JSON": lambda _, __: "{",
    "a list": lambda _, __: "[]",
    "too deep": lambda _, __: '{"x":' + "[" * 1500,
    "an ID of another type": lambda _, __: '{"id": 1}',
    "parts of other types": lambda passkey, _: json.dumps(
        {"id": encode(passkey.credential_id), "rawId": [], "response": 1, "type": {}}
    ),
    "binary rubbish": lambda passkey, options: json.dumps(
        {
            **json.loads(passkey.get(options)),
            "response": {
                "clientDataJSON": "_w",
                "authenticatorData": "_w",
                "signature": "_w",
                "userHandle": "_",
            },
        }
    ),
    "nothing": lambda _, __: "",
    "too much": lambda passkey, options: passkey.get(options, more="A" * 4300),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_answer_signs_no_one_in(named: Service, passkey: Passkey, name: str) -> None:
    browser = reader(named)
    options = fetch(browser, CHALLENGE)
    later = again(passkey)

    refused = sign_in(browser, FORGED[name](later, options))

    assert refused.status_code == 401, refused.text
    assert "The passkey was not accepted" in refused.text
    assert not is_open(browser)
    # Its challenge is gone, whatever the answer was.
    assert sign_in(browser, later.get(options)).status_code == 401
    assert sign_in(browser, later.get(fetch(browser, CHALLENGE))).status_code == 303


def test_an_answer_signs_in_once_and_in_its_own_browser(named: Service, passkey: Passkey) -> None:
    browser, thief = reader(named), reader(named)
    answer = again(passkey).get(fetch(browser, CHALLENGE))
    fetch(thief, CHALLENGE)

    stolen = sign_in(thief, answer)
    cookies = dict(browser.client.cookies)
    first = sign_in(browser, answer)
    browser.client.cookies.update(cookies)
    second = sign_in(browser, answer)

    assert (stolen.status_code, first.status_code, second.status_code) == (401, 303, 401)
    assert not is_open(thief)


def test_a_challenge_ends_after_five_minutes(named: Service, passkey: Passkey) -> None:
    browser = reader(named)
    answer = again(passkey).get(fetch(browser, CHALLENGE))
    named.advance("PT5M")

    assert sign_in(browser, answer).status_code == 401


def test_a_counter_that_went_back_is_refused_and_reported(named: Service) -> None:
    """Of an operator, who needs no second factor here and has one all the same."""
    email, browser = active_operator(named), reader(named)
    assert browser.sign_in(email).headers["location"] == "/console"
    passkey = new_passkey(browser, named)
    assert sign_in(browser, passkey.later(7).get(fetch(browser, CHALLENGE))).status_code == 303

    for count in (7, 6, 0):
        copy = reader(named)
        assert sign_in(copy, passkey.later(count).get(fetch(copy, CHALLENGE))).status_code == 401
        assert not is_open(copy)

    assert "its counter went back" in mails(named, email)[-1]["text"]
    assert sign_in(browser, passkey.later(8).get(fetch(browser, CHALLENGE))).status_code == 303


def test_a_passkey_is_the_second_step_after_a_password_and_only_its_owners(
    named: Service, owner: Member, passkey: Passkey
) -> None:
    """A challenge of one purpose counts for no other."""
    other = new_member(named)
    theirs = reader(named)
    theirs.sign_in(other.email)
    foreign = new_passkey(theirs, named)
    browser, page = reader(named), f"/console/entity/{owner.entity_id}"
    assert browser.sign_in(owner.email, to=page).headers["location"].startswith(CODE)
    assert "Use a passkey" in browser.get(CODE).text

    def step(answer: str) -> int:
        fields = {"csrf_token": browser.word(CODE), "to": page, "passkey": answer}
        return browser.post(CODE, fields).status_code

    own = fetch(browser, PROVE)
    assert [one["id"] for one in own["allowCredentials"]] == [encode(passkey.credential_id)]
    assert step(replace(foreign, user_handle=passkey.user_handle).get(own)) == 401
    assert step(again(passkey).get(own)) == 401, "the challenge is gone"
    assert step(again(passkey).get(fetch(browser, CHALLENGE))) == 401, "of a sign-in"
    assert step(again(passkey).get(fetch(theirs, PROVE))) == 401, "of another session"
    assert not is_open(browser)
    assert sign_in(browser, again(passkey).get(fetch(browser, PROVE))).status_code == 401
    named.advance("PT1M")
    assert step(again(passkey).get(fetch(browser, PROVE))) == 303
    assert browser.get(page).status_code == 200


def test_challenges_and_failures_of_an_address_are_limited(named: Service) -> None:
    """No one fills the table, and no one tries forever."""
    flood = reader(named)
    for _ in range(50):
        flood.client.cookies.clear()
        assert flood.post(CHALLENGE, {}).status_code == 200
    assert flood.post(CHALLENGE, {}).status_code == 429

    guesser = reader(named)
    for _ in range(10):
        assert sign_in(guesser, "{}").status_code == 401
    assert sign_in(guesser, "{}").status_code == 429


@pytest.mark.parametrize("path", [CHALLENGE, PROVE, SIGN_IN])
def test_another_site_gets_no_challenge(named: Service, path: str) -> None:
    browser = reader(named)

    for header in ({"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}):
        assert browser.post(path, {}, **header).status_code == 403
    assert not browser.client.cookies


def test_a_disabled_account_is_not_signed_in_by_its_passkey(named: Service) -> None:
    member, browser = new_member(named), reader(named)
    browser.sign_in(member.email)
    passkey = new_passkey(browser, named)
    new_operator(named).post(f"/users/{user_id(named, member.email)}/disable")

    refused = sign_in(browser, passkey.get(fetch(browser, CHALLENGE)))

    assert refused.status_code == 401
    assert "The passkey was not accepted" in refused.text


def test_at_an_address_without_a_name_passkeys_are_off(service: Service, member: Member) -> None:
    browser = reader(service)
    assert "passkey" not in browser.get("/console/sign-in").text
    browser.sign_in(member.email)
    page = browser.get("/console/account/second-factor")

    assert "Passkeys are off" in page.text
    assert "Add a passkey" not in page.text
    for path in (CHALLENGE, PROVE):
        assert browser.post(path, {}).status_code == 409
    said = service.cli("doctor", check=False).stdout
    assert "passkeys" in said
    assert "they need a host name" in said
