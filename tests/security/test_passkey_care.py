"""Adding, using and removing passkeys: who may, with which proof, and what it ends."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.support.depth import with_every_change
from tests.support.mailbox import latest_link, mails
from tests.support.members import Member, new_member, set_password
from tests.support.passkeys import (
    PROVE,
    SIGN_IN,
    UP,
    Options,
    Passkey,
    add,
    begin,
    decode,
    fetch,
    new_passkey,
    options_of,
    sign_in,
)
from tests.support.people.console import Reader, reader
from tests.support.people.operators import new_operator
from tests.support.people.second_factor import CODE, PAGE, csrf, enroll, recovery_codes, user_id
from tests.support.service import PASSWORD, Service

CHALLENGE = f"{SIGN_IN}/challenge"
NO_PROOF: tuple[dict[str, str], ...] = (
    {},
    {"password": PASSWORD},
    {"passkey": "{}"},
    {"passkey": ""},
)


@pytest.fixture
def admin(named: Service) -> Member:
    return new_member(named)


@pytest.fixture
def browser(named: Service, admin: Member) -> Reader:
    """One who signed in, and must set up a second factor before anything else."""
    found = reader(named)
    assert found.sign_in(admin.email).headers["location"] == PAGE
    return found


def is_open(browser: Reader) -> bool:
    return browser.get("/console/account").status_code == 200


def proof(browser: Reader, passkey: Passkey, count: int) -> dict[str, str]:
    """What the script of the page sends for "Confirm that it is you"."""
    return {"passkey": passkey.later(count).get(fetch(browser, PROVE))}


def ids(browser: Reader) -> list[str]:
    return [one["id"] for one in fetch(browser, PROVE)["allowCredentials"]]


def listed(browser: Reader) -> list[str]:
    """The IDs that the forms of the page remove."""
    return [part.split('"')[0] for part in browser.get(PAGE).text.split('name="id" value="')[1:]]


def test_a_first_passkey_ends_the_set_up_and_shows_recovery_codes(
    named: Service, admin: Member, browser: Reader
) -> None:
    before, page = dict(browser.client.cookies), begin(browser, "Phone")
    options = options_of(page)
    assert options["authenticatorSelection"]["userVerification"] == "required"
    passkey = Passkey(named.root, decode(options["user"]["id"]))

    shown = add(browser, page, passkey.create(options))

    codes = recovery_codes(shown)
    assert len(codes) == 10
    assert is_open(browser)
    assert dict(browser.client.cookies) != before
    assert "A passkey was added" in mails(named, admin.email)[-1]["text"]
    assert "Phone" in browser.get(PAGE).text
    other = reader(named)
    assert other.sign_in(admin.email).headers["location"].startswith(CODE)
    sent = {"csrf_token": other.word(CODE), "code": codes[0]}
    assert other.post(CODE, sent).status_code == 303, "a recovery code replaces it"


Forge = Callable[[Passkey, Options], str]
FORGED: dict[str, Forge] = {
    "another origin": lambda one, asked: replace(one, origin="http://evil.example").create(asked),
    "another RP ID": lambda one, asked: replace(one, rp_id="evil.example").create(asked),
    "no user verification": lambda one, asked: replace(one, flags=UP).create(asked),
    "inside a frame": lambda one, asked: replace(one, cross_origin=True).create(asked),
    "an own challenge": lambda one, asked: one.create({**asked, "challenge": "AAAA"}),
    "a signature": lambda one, asked: one.get(asked),
    "an ID that is too long": lambda one, asked: replace(one, credential_id=bytes(1024)).create(
        asked
    ),
    "no JSON": lambda _, __: "nothing",
    "too much": lambda one, asked: one.create(asked, more="A" * 4300),
    "another format": lambda one, asked: json.dumps(
        json.loads(one.create(asked))
        | {"response": {"clientDataJSON": "e30", "attestationObject": "oA"}}
    ),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_passkey_is_not_added_and_its_challenge_is_gone(
    named: Service, browser: Reader, name: str
) -> None:
    page = begin(browser)
    options = options_of(page)
    passkey = Passkey(named.root, decode(options["user"]["id"]))

    refused = add(browser, page, FORGED[name](passkey, options))

    assert refused.status_code == 401, refused.text
    assert "data-passkey-options" not in refused.text, "no challenge without a proof"
    assert add(browser, page, passkey.create(options)).status_code == 401
    assert not is_open(browser)


def test_a_passkey_of_another_person_is_not_added_twice(named: Service, browser: Reader) -> None:
    first = new_passkey(browser, named)
    other = reader(named)
    other.sign_in(new_member(named).email)
    page = begin(other)

    refused = add(other, page, first.create(options_of(page)))

    assert refused.status_code == 401
    assert ids(other) == []
    assert len(ids(browser)) == 1


@pytest.mark.parametrize(
    "form", with_every_change(["begin"], ["passkey/begin", "begin", "recovery-codes"])
)
def test_a_stolen_session_changes_no_passkey(named: Service, browser: Reader, form: str) -> None:
    """However lately it was proven: the very form brings a passkey's signature or a code."""
    passkey = new_passkey(browser, named)
    sent = {"name": "Thief"}

    for nothing in NO_PROOF:
        refused = browser.act(PAGE, f"{PAGE}/{form}", **sent, **nothing)
        assert refused.status_code == 403
        assert "Confirm that it is you" in refused.text
        assert "data-passkey-options" not in refused.text
        assert "factor-key" not in refused.text
    assert len(ids(browser)) == 1
    asked_again = reader(named)
    asked_again.client.cookies.update(dict(browser.client.cookies))
    answer = proof(browser, passkey, 5)
    named.advance("PT1M")
    accepted = browser.act(PAGE, f"{PAGE}/{form}", **sent, **answer)
    assert accepted.status_code in {200, 409}, accepted.text
    replayed = asked_again.act(PAGE, f"{PAGE}/{form}", **sent, **answer)
    assert replayed.status_code == 403, "once"


@pytest.mark.parametrize("nothing", NO_PROOF)
def test_a_stolen_session_removes_no_passkey(
    named: Service, browser: Reader, nothing: dict[str, str]
) -> None:
    """Of two, so that the form alone would be taken."""
    first = new_passkey(browser, named)
    new_passkey(browser, named, "Laptop", **proof(browser, first, 5))
    kept = ids(browser)

    refused = browser.act(PAGE, f"{PAGE}/passkey/remove", id=listed(browser)[0], **nothing)

    assert refused.status_code == 403
    assert "Confirm that it is you" in refused.text
    assert len(kept) == 2
    assert ids(browser) == kept


def test_the_last_factor_of_who_must_have_one_stays(
    named: Service, admin: Member, browser: Reader
) -> None:
    passkey = new_passkey(browser, named, "Phone")
    (only,) = listed(browser)
    page, kept = f"{PAGE}/passkey/remove", browser.get(PAGE).text
    assert "Phone" in kept

    refused = browser.act(PAGE, page, id=only, **proof(browser, passkey, 5))
    assert refused.status_code == 409
    assert "replace it instead of removing it" in refused.text

    second = new_passkey(browser, named, "Security key", **proof(browser, passkey, 6))
    other = reader(named)
    sign_in(other, second.get(fetch(other, CHALLENGE)))
    assert is_open(other)
    done = browser.act(PAGE, page, id=only, **proof(browser, second, 9))
    assert done.headers["location"].endswith("told=passkey-removed")
    assert not is_open(other)
    assert "A passkey was removed" in mails(named, admin.email)[-1]["text"]
    assert sign_in(other, passkey.later(20).get(fetch(other, CHALLENGE))).status_code == 401
    gone = browser.act(PAGE, page, id=only, **proof(browser, second, 10))
    assert gone.status_code == 409


def test_no_one_removes_the_passkey_of_another(named: Service, browser: Reader) -> None:
    new_passkey(browser, named)
    (theirs,) = listed(browser)
    thief = reader(named)
    thief.sign_in(new_member(named).email)
    own = new_passkey(thief, named, "One")
    new_passkey(thief, named, "Two", **proof(thief, own, 5))

    refused = thief.act(PAGE, f"{PAGE}/passkey/remove", id=theirs, **proof(thief, own, 6))

    assert refused.status_code == 409
    assert listed(browser) == [theirs]


def test_a_name_is_bounded_and_a_person_has_at_most_ten(named: Service, browser: Reader) -> None:
    for name in ("", " ", "A" * 41, "two\x00words", "\u202e"):
        assert begin(browser, name).status_code == 400, name
    passkey = new_passkey(browser, named, "0")
    for number in range(1, 10):
        new_passkey(browser, named, str(number), **proof(browser, passkey, 10 * number))

    full = begin(browser, "11", **proof(browser, passkey, 500))

    assert full.status_code == 409
    assert "you have 10 passkeys" in full.text.lower()
    assert "Add a passkey" not in browser.get(PAGE).text


def test_a_passkey_confirms_a_serious_act(named: Service, admin: Member, browser: Reader) -> None:
    passkey, page = new_passkey(browser, named), f"/console/entity/{admin.entity_id}"
    named.advance("PT6M")
    sent = {"csrf_token": browser.word("/console/account"), "email": "it@member.example"}
    asked = browser.post(f"{page}/people/contact", sent)
    assert asked.status_code == 403
    assert "Use a passkey" in asked.text
    answer = proof(browser, passkey, 5)

    wrong = browser.post(
        f"{page}/people/contact",
        {**sent, "passkey": replace(passkey, flags=UP).get({"challenge": "A"})},
    )
    assert wrong.status_code == 403
    assert "The passkey was not accepted" in wrong.text
    named.advance("PT1M")
    late = browser.post(f"{page}/people/contact", {**sent, **answer})
    assert late.status_code == 403, "the wrong one used up the challenge"
    named.advance("PT1M")
    done = browser.post(f"{page}/people/contact", {**sent, **proof(browser, passkey, 6)})
    assert done.headers["location"].endswith("told=contact")
    named.advance("PT6M")
    shown = browser.post(f"{page}/secret/show", {**sent, **proof(browser, passkey, 7)})
    assert "secret-text" in shown.text


def test_a_reset_by_a_second_operator_ends_passkeys_too(
    named: Service, admin: Member, browser: Reader
) -> None:
    passkey = new_passkey(browser, named)
    app, _ = enroll(browser, named, **proof(browser, passkey, 5))
    chief, who = new_operator(named), user_id(named, admin.email)
    (seen,) = chief.get("/users", words=admin.email).json()["users"]
    assert seen["secondFactor"]

    assert chief.post(f"/users/{who}/second-factor/reset").status_code == 200

    assert not is_open(browser)
    assert sign_in(browser, passkey.later(9).get(fetch(browser, CHALLENGE))).status_code == 401
    assert browser.sign_in(admin.email).headers["location"] == PAGE
    assert ids(browser) == []
    assert csrf(browser.get(PAGE))
    assert app.secret not in browser.get(PAGE).text


@pytest.mark.parametrize("with_app", with_every_change([True], [False, True]))
def test_the_passkeys_of_who_was_admin_before_a_move_sign_no_one_in(
    named: Service, admin: Member, browser: Reader, with_app: bool
) -> None:
    """An app of theirs stays: it is of no use without the new password (decision 0072)."""
    passkey = new_passkey(browser, named)
    if with_app:
        enroll(browser, named, **proof(browser, passkey, 5))
    chief, who, moved = new_operator(named), user_id(named, admin.email), f"new-{admin.email}"
    assert chief.post(f"/users/{who}/email", email=moved).status_code == 200
    set_password(named.client(), latest_link(named, moved))
    former, new = reader(named), reader(named)

    assert sign_in(former, passkey.later(9).get(fetch(former, CHALLENGE))).status_code == 401
    location = new.sign_in(moved).headers["location"]
    assert location.startswith(CODE) if with_app else location == PAGE
    assert any(
        "passkeys of the account have ended" in one["text"] for one in mails(named, admin.email)
    )
    events = chief.get("/audit", userId=who).json()["events"]
    removed = [one for one in events if one["event"] == "user:factor:remove"]
    assert [one["detail"]["kind"] for one in removed] == ["passkey"]
