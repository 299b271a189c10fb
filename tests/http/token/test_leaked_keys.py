"""A key has leaked: it is dropped by its ID or with all others, by command, call and page (0206)."""

import json

import httpx2
import jwt
import pytest
from tests.support.http_clients import NO_TLS
from tests.support.members import Member, new_member
from tests.support.people.console import reader
from tests.support.people.operators import Operator, new_operator
from tests.support.service import Service

from mudra.console.framework.navigation import operator_path

DROP = ("keys", "rotate", "--emergency")


@pytest.fixture
def member(keyed: Service) -> Member:
    return new_member(keyed)


@pytest.fixture
def boss(keyed: Service) -> Operator:
    return new_operator(keyed, "keys", "audit")


def listed(service: Service) -> list[dict[str, str]]:
    rows = json.loads(service.cli("keys", "list", "--json").stdout)
    assert isinstance(rows, list)
    return rows


def in_state(service: Service, state: str, kind: str = "entity") -> list[str]:
    return [k["kid"] for k in listed(service) if (k["kind"], k["state"]) == (kind, state)]


def published(service: Service) -> set[str]:
    answer = httpx2.get(f"{service.issuer}/.well-known/jwks.json", verify=NO_TLS)
    return {key["kid"] for key in answer.json()["keys"]}


def of_kind(service: Service, kind: str) -> set[str]:
    return {k["kid"] for k in listed(service) if k["kind"] == kind and k["state"] != "retired"}


def token_of(member: Member) -> str:
    return str(member.entity_token(member.secret()).json()["accessToken"])


def kid_of(token: str) -> str:
    return str(jwt.get_unverified_header(token)["kid"])


def is_active(member: Member, token: str) -> bool:
    found = member.service.introspected(token, member.entity_id, member.secret())
    return found["active"] is True


def rotated(service: Service) -> tuple[str, str]:
    """Plan a rotation of the key for entity tokens; gives both keys, an hour before they change."""
    service.cli(*DROP, "--all", "--again", "--kind", "entity")  # the key that waits is fresh
    (previous,) = in_state(service, "active")
    rows = json.loads(service.cli("keys", "rotate", "--kind", "entity", "--json").stdout)
    (following,) = (row["kid"] for row in rows if row["what"] == "signs from")
    return previous, following


def test_all_drops_the_key_that_waits_too_and_what_signs_next_is_new(member: Member) -> None:
    service = member.service
    token, before = token_of(member), {key["kid"] for key in listed(service)}
    not_dropped = published(service)

    rows = json.loads(service.cli(*DROP, "--all", "--again", "--json").stdout)

    assert not_dropped <= {row["kid"] for row in rows if row["what"] == "dropped at"} <= before
    for _ in range(6):
        assert not published(service) & before
    user = member.sign_in()["Authorization"].removeprefix("Bearer ")
    assert not is_active(member, token)
    for kind, fresh in (("user", user), ("entity", token_of(member))):
        assert [kid_of(fresh)] == in_state(service, "active", kind)
        assert kid_of(fresh) not in before
        assert len(in_state(service, "pending", kind)) == 1


def test_all_that_is_repeated_keeps_the_new_keys_for_ten_minutes(
    member: Member, boss: Operator
) -> None:
    """The answer to the first may be lost: what is asked for again must end nothing more."""
    service, page, rotate = member.service, operator_path("keys"), operator_path("keys/rotate")
    service.cli(*DROP, "--all", "--again", "--kind", "entity")
    token, made = token_of(member), of_kind(service, "entity")

    by_command = service.cli(*DROP, "--all", "--kind", "entity")
    by_call = boss.post("/keys/rotate", kind="entity", emergency=True, all=True)
    browser = reader(service)
    assert browser.sign_in(boss.email).status_code == 303
    drop = {"kind": "entity", "emergency": "true", "typed": "entity", "all": "true"}
    by_page = browser.act(page, rotate, **drop)
    mixed = json.loads(service.cli(*DROP, "--all", "--json").stdout)

    said = " ".join(by_command.output.split())
    assert "every key for entity tokens was dropped minutes ago" in said.lower()
    assert "add --again" in said
    assert (by_call.status_code, by_call.json()["changes"]) == (200, [])
    assert by_page.headers["location"].endswith("told=dropped-all-before")
    assert "dropped minutes ago" in browser.get(by_page.headers["location"]).text
    assert {row["kind"] for row in mixed} <= {"user"}
    assert of_kind(service, "entity") == made
    assert is_active(member, token)

    service.cli(*DROP, "--all", "--again", "--kind", "entity")
    once_more = of_kind(service, "entity")
    assert not made & once_more
    service.advance("PT10M")
    service.cli(*DROP, "--all", "--kind", "entity")
    assert not once_more & of_kind(service, "entity")


def test_all_after_one_key_was_dropped_is_no_repetition(keyed: Service, boss: Operator) -> None:
    (signs,) = in_state(keyed, "active")
    boss.post("/keys/rotate", kind="entity", emergency=True, kid=signs)
    left = of_kind(keyed, "entity")

    boss.post("/keys/rotate", kind="entity", emergency=True, all=True)

    assert not left & of_kind(keyed, "entity")


def test_all_of_one_kind_leaves_the_other_alone(keyed: Service, boss: Operator) -> None:
    entity, user = of_kind(keyed, "entity"), of_kind(keyed, "user")

    done = boss.post("/keys/rotate", kind="entity", emergency=True, all=True, again=True)

    assert {one["kind"] for one in done.json()["changes"]} == {"entity"}
    assert not entity & published(keyed)
    assert user <= published(keyed)


def test_a_leaked_key_that_was_rotated_already_is_dropped_and_its_successor_is_not(
    member: Member,
) -> None:
    service = member.service
    leaked, innocent = rotated(service)
    forged = token_of(member)
    service.advance("PT61M")
    fresh = token_of(member)
    assert (kid_of(forged), kid_of(fresh)) == (leaked, innocent)
    assert leaked in in_state(service, "retiring")
    assert is_active(member, forged)

    rows = json.loads(service.cli(*DROP, "--key", leaked, "--json").stdout)

    assert [(row["kid"], row["what"]) for row in rows] == [(leaked, "dropped at")]
    for _ in range(6):
        assert leaked not in published(service)
    assert not is_active(member, forged)
    assert is_active(member, fresh)
    assert in_state(service, "active") == [innocent]


def test_an_emergency_that_is_repeated_by_its_key_changes_nothing(
    keyed: Service, boss: Operator
) -> None:
    (leaked,) = in_state(keyed, "active")
    first = boss.post("/keys/rotate", emergency=True, kid=leaked).json()["changes"]
    after = listed(keyed)

    again = boss.post("/keys/rotate", emergency=True, kid=leaked)
    by_command = keyed.cli(*DROP, "--key", leaked)

    assert (again.status_code, again.json()["changes"]) == (200, [])
    assert f"{leaked} was dropped already" in by_command.output
    assert [key["kid"] for key in listed(keyed)] == [key["kid"] for key in after]
    assert of_kind(keyed, "entity") == {
        k["kid"] for k in after if k["kind"] == "entity" and k["state"] != "retired"
    }
    assert {one["event"] for one in first} >= {"keys:signing:drop", "keys:signing:activate"}
    (row, *_) = boss.get("/audit", event="keys:signing:drop", limit="1").json()["events"]
    assert (row["actor"], row["detail"]["kid"]) == (f"operator:{boss.email}", leaked)


def test_a_key_signs_on_whose_successor_is_dropped_before_it_takes_over(member: Member) -> None:
    service = member.service
    signs, leaked = rotated(service)

    rows = json.loads(service.cli(*DROP, "--key", leaked, "--json").stdout)
    service.advance("PT2H")  # the handover would have been

    what = [(row["kid"], row["what"]) for row in rows]
    assert what == [(leaked, "dropped at"), (signs, "signs from")]
    assert kid_of(token_of(member)) == signs
    assert in_state(service, "active") == [signs]
    assert leaked not in published(service)


def test_a_key_that_waits_is_dropped_and_the_one_that_signs_is_not(member: Member) -> None:
    service, token = member.service, token_of(member)
    waits = in_state(service, "pending")[0]

    service.cli(*DROP, "--key", waits)

    assert waits not in published(service)
    assert is_active(member, token)


def test_what_names_no_key_or_two_ways_is_refused(keyed: Service, boss: Operator) -> None:
    (user,) = in_state(keyed, "active", "user")
    before = listed(keyed)

    def refused(**members: object) -> tuple[int, str]:
        answer = boss.post("/keys/rotate", **members)
        return answer.status_code, answer.json()["errorMsg"]

    assert refused(emergency=True, kid="none") == (
        404,
        "kid: no signing key of this kind has this ID",
    )
    assert refused(emergency=True, kind="entity", kid=user)[0] == 404
    assert refused(kid=user)[0] == refused(all=True)[0] == 400
    assert refused(emergency=True, again=True)[0] == 400
    assert refused(emergency=True, kid=user, all=True)[0] == 400
    for words, code in (
        (("--key", user), 2),
        (("--all",), 2),
        (("--emergency", "--again"), 2),
        (("--emergency", "--all", "--key", user), 2),
        (("--emergency", "--key", "none"), 1),
        (("--emergency", "--kind", "entity", "--key", user), 1),
    ):
        assert keyed.cli("keys", "rotate", *words, check=False).exit_code == code, words
    assert [(key["kid"], key["state"]) for key in listed(keyed)] == [
        (key["kid"], key["state"]) for key in before
    ]


def test_the_page_lets_choose_each_key_that_is_published_or_all(
    keyed: Service, boss: Operator
) -> None:
    browser, page = reader(keyed), operator_path("keys")
    assert browser.sign_in(boss.email).status_code == 303
    rotate = operator_path("keys/rotate")
    waits, known = in_state(keyed, "pending", "user")[0], of_kind(keyed, "user")
    (signs,) = in_state(keyed, "active", "user")
    shown = browser.get(page).text
    assert all(f'<option value="{kid}"' in shown for kid in published(keyed))
    drop = {"kind": "user", "emergency": "true", "typed": "user"}

    chosen = browser.act(page, rotate, **drop, kid=waits)
    again = browser.act(page, rotate, **drop, kid=waits)

    assert chosen.headers["location"].endswith("told=dropped")
    assert again.headers["location"].endswith("told=dropped-before")
    assert "dropped already" in browser.get(again.headers["location"]).text
    assert in_state(keyed, "active", "user") == [signs]
    assert browser.act(page, rotate, **drop, kid="none").status_code == 404
    everything = browser.act(page, rotate, **drop, all="true")
    assert everything.headers["location"].endswith("told=dropped-all")
    assert not known & published(keyed)
