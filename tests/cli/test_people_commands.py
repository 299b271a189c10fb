"""Commands about people's tokens and members' status, next to a running service."""

import json

import jwt
import pytest
from tests.support.mailbox import latest_link
from tests.support.members import Member, new_member
from tests.support.service import Service


@pytest.fixture(scope="module")
def looked_after(service: Service) -> Member:
    return new_member(service)


def shown(member: Member, *words: str, **options: str) -> object:
    """What a command says as JSON."""
    return json.loads(member.service.cli(*words, "--json", **options).stdout)


def test_an_operator_lists_and_ends_a_users_tokens(looked_after: Member) -> None:
    member, headers = looked_after, looked_after.sign_in()
    assert member.read(headers).status_code == 200
    other = member.sign_in()

    held = shown(member, "admin", "tokens", member.email)
    used = next(token for token in held if "lastUsedAt" in token)
    one = shown(member, "admin", "revoke", member.email, "--token-id", used["jti"])

    assert one == {"tokens ended": 1}
    assert member.read(headers).json()["errorCode"] == "TokenRevoked"
    assert member.read(other).status_code == 200
    rest = shown(member, "admin", "revoke", member.email)
    assert rest["tokens ended"] >= 1
    assert member.read(other).json()["errorCode"] == "TokenRevoked"
    assert member.read(member.sign_in()).status_code == 200  # the password stays


def test_a_user_lists_and_ends_own_tokens(looked_after: Member) -> None:
    member = looked_after
    headers = member.sign_in()
    member.service.cli(
        "login", member.email, "--password-stdin", stdin=member.password
    )  # keeps a token of its own
    ids = {token["jti"] for token in shown(member, "token", "list") if token["state"] == "valid"}
    mine = jwt.decode(
        headers["Authorization"].removeprefix("Bearer "), options={"verify_signature": False}
    )["jti"]

    assert mine in ids
    assert shown(member, "token", "revoke", mine)["status"] == "revoked"
    assert member.read(headers).json()["errorCode"] == "TokenRevoked"
    assert shown(member, "token", "revoke", mine)["status"] == "nothing to revoke"


def test_a_member_is_suspended_restored_and_retired_for_good(service: Service) -> None:
    member = new_member(service)
    secret = member.secret()

    shown(member, "member", "suspend", member.entity_id, "--reason", "a leak")
    suspended = member.entity_token(secret)
    shown(member, "member", "restore", member.entity_id, "--reason", "fixed")
    restored = member.entity_token(secret)
    shown(member, "member", "retire", member.entity_id, "--reason", "left")
    again = member.service.cli("member", "restore", member.entity_id, "--reason", "no", check=False)

    assert suspended.status_code == 401
    assert restored.status_code == 200
    assert member.entity_token(secret).status_code == 401
    assert again.exit_code == 1
    assert "retired for good" in again.output
    assert (
        member.service.cli(
            "member", "suspend", member.entity_id, "--reason", "", check=False
        ).exit_code
        == 2
    )


@pytest.mark.parametrize("number", ["1.5", "1e400", "1" + "0" * 30])
@pytest.mark.parametrize("field", ["secretExpiryDays", "oldSecretValidity"])
def test_a_number_that_is_none_here_names_its_field(
    looked_after: Member, field: str, number: str
) -> None:
    member = looked_after
    body = f'{{"entityId": "{member.entity_id}", "{field}": {number}}}'

    answer = member.client.post(
        "/v1/entity/secret/reset",
        content=body.encode(),
        headers=member.sign_in() | {"Content-Type": "application/json"},
    )

    assert answer.status_code == 400
    assert answer.json()["errorCode"] == "InvalidRequest"
    assert answer.json()["errorMsg"].startswith(f"{field} must be a whole number from ")


def test_the_use_of_an_old_secret_is_shown_and_its_grace_ended_by_command(service: Service) -> None:
    member = new_member(service)
    old = member.secret()
    member.reset(oldSecretValidity=7)
    for address in ("127.80.0.1", "127.80.0.2"):
        data = {"id": member.entity_id, "secret": old}
        answer = service.client(address).post("/v1/entity/token/generate", data=data)
        assert answer.status_code == 200
    service.cli("login", member.email, "--password-stdin", stdin=member.password)
    service.wait_until(
        lambda: shown(member, "secret", "use", member.entity_id)["old"]["count"] == 2
    )
    service.advance("PT26H")

    read = service.cli("secret", "read", member.entity_id).stdout
    ended = shown(member, "secret", "retire", member.entity_id)
    again = service.cli("secret", "retire", member.entity_id, check=False)

    assert "last used 26 hours ago from 2 addresses" in " ".join(read.split())
    assert ended["oldSecretValidity"] == 0
    assert member.entity_token(old).json()["errorCode"] == "SecretGraceEnded"
    assert again.exit_code == 1


def test_a_forgotten_password_is_reset_by_command(service: Service) -> None:
    member = new_member(service)
    held, fresh = member.bearer(), "granite otter velvet lamp"

    asked = service.cli("password", "forgot", member.email)
    stranger = service.cli("password", "forgot", "nobody@nowhere.example")
    link = latest_link(service, member.email)
    weak = service.cli("password", "set", "--password-stdin", stdin=f"{link}\nshort\n", check=False)
    done = shown(member, "password", "set", "--password-stdin", stdin=f"{link}\n{fresh}\n")
    again = service.cli(
        "password", "set", "--password-stdin", stdin=f"{link}\n{fresh}\n", check=False
    )

    assert asked.output == stranger.output == "if the name is known, a link is on its way\n"
    assert (weak.exit_code, "at least 15 characters" in weak.output) == (1, True), weak.output
    assert done["status"] == "password set"
    assert member.read(held).json()["errorCode"] == "TokenRevoked"
    assert (again.exit_code, "already used" in again.output) == (1, True)
    assert fresh not in weak.output + again.output
    service.cli("login", member.email, "--password-stdin", stdin=fresh)


def test_a_link_is_asked_for_by_its_own_service_and_never_as_an_argument(service: Service) -> None:
    token = "d0JmX2s3cVh5TzZ1cEw4ZUs5bWdBMXpSN2NJdFdYYk4"
    tried = {
        words: service.cli(
            "password", "set", "--password-stdin", *words[1:], stdin=words[0], check=False
        )
        for words in (
            (f"{token}\na new password of mine\n",),
            (
                f"{service.issuer}/activate/{token}\na new password of mine\n",
                "--base-url",
                "https://x.example",
            ),
            ("https://elsewhere.example/page\n",),
            (f"{token}\n",),
            ("", token),
        )
    }

    codes = [one.exit_code for one in tried.values()]
    assert codes == [1, 2, 2, 2, 2], [one.output for one in tried.values()]
    said = " ".join(one.output for one in tried.values())
    for words in ("not a valid link", "omit --base-url", "must be the link", "is empty"):
        assert words in said


def test_an_operator_made_again_without_scopes_keeps_those_that_it_has(service: Service) -> None:
    member, email = new_member(service), "keeps@network.example"
    first = shown(member, "operator", "create", email, "--scope", "audit")

    again = shown(member, "operator", "create", email)

    assert (first["scopes"], again["scopes"]) == (["audit"], ["audit"])


def test_another_address_of_the_contact_keeps_its_telephone(service: Service) -> None:
    member, phone = new_member(service), "+91 80 4000 1234"
    shown(member, "admin", "contact", member.entity_id, "", "--phone", phone)

    kept = shown(member, "admin", "contact", member.entity_id, "it-desk@member.example")
    only_phone = shown(
        member, "admin", "contact", member.entity_id, "it-desk@member.example", "--phone", ""
    )

    assert kept == {"contact": "it-desk@member.example", "phone": phone}
    assert only_phone == {"contact": "it-desk@member.example", "phone": "none"}
