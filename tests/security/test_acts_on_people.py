"""Operators who would take over another's account: none can."""

import itertools
import json
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta

import httpx2
import pytest
from tests.security.people.accounts import leave_alone, managers
from tests.support.mailbox import latest_link, mails
from tests.support.members import new_member, set_password
from tests.support.people.console import reader
from tests.support.people.operators import Operator, new_operator
from tests.support.service import Service

from mudra.bootstrap.dependencies import Dependencies
from mudra.identity.accounts.address_change_store import AddressChanges
from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.user import AddressChange
from mudra.identity.operators.operator import Scope
from mudra.identity.operators.person_rule import (
    LastOperator,
    OwnAccount,
    PersonHoldsMore,
    leaves_no_manager,
    may_act,
)

MANAGERS = ({"members"}, {"members", "keys"}, set(Scope))
PEOPLE = (set(), {"health"}, {"members"}, {"keys"}, {"members", "keys"}, set(Scope))
ACTS = (
    "tokens",
    "tokens/revoke",
    "invite",
    "enable",
    "email",
    "email/confirm",
    "second-factor/reset",
    "disable",
)


@dataclass(frozen=True)
class Person:
    """Someone on whom operators act."""

    user_id: str
    email: str
    client: httpx2.Client
    headers: dict[str, str]


def name(scopes: set[str]) -> str:
    return "all" if len(scopes) == len(Scope) else "+".join(sorted(scopes)) or "admin"


def act(operator: Operator, user_id: str, what: str, email: str = "") -> httpx2.Response:
    path = f"/users/{user_id}/{what}"
    if what == "tokens":
        return operator.get(path)
    body = {"email": email or f"taken-{uuid.uuid4().hex}@evil.example"} if "email" in what else {}
    return operator.post(path, **body)


@pytest.fixture(scope="module")
def chief(service: Service) -> Operator:
    return new_operator(service)


@pytest.fixture(scope="module")
def callers(service: Service) -> dict[str, Operator]:
    return {name(manager): new_operator(service, *manager) for manager in MANAGERS}


def person(service: Service, chief: Operator, scopes: set[str]) -> Person:
    if scopes:
        made = new_operator(service, *scopes)
        return Person(user_id(chief, made.email), made.email, made.client, made.headers)
    member = new_member(service)
    return Person(user_id(chief, member.email), member.email, member.client, member.bearer())


def user_id(operator: Operator, email: str) -> str:
    (found,) = operator.get("/users", words=email).json()["users"]
    return str(found["userId"])


def still_signed_in(who: Person) -> bool:
    return who.client.get("/v1/user/token/list", headers=who.headers).status_code == 200


SUBSETS = [
    frozenset(chosen) for n in range(len(Scope) + 1) for chosen in itertools.combinations(Scope, n)
]


def test_the_rule_over_all_pairs_of_scopes() -> None:
    """Exactly who holds all of a person's scopes may act on that person, and never on himself."""
    for caller, target in itertools.product(SUBSETS, SUBSETS):
        refused = may_act(caller, target, own=False)
        assert (refused is None) == (target <= caller)
        assert may_act(caller, target, own=True) == OwnAccount()
        if isinstance(refused, PersonHoldsMore):
            assert refused.scope in target - caller


def test_the_last_manager_is_known() -> None:
    assert leaves_no_manager(frozenset({"a"}), "a") == LastOperator()
    assert leaves_no_manager(frozenset({"a", "b"}), "a") is None
    assert leaves_no_manager(frozenset({"a"}), "b") is None


@pytest.mark.parametrize("scopes", PEOPLE, ids=name)
@pytest.mark.parametrize("manager", MANAGERS, ids=name)
def test_each_act_needs_the_persons_scopes(
    service: Service,
    chief: Operator,
    callers: dict[str, Operator],
    manager: set[str],
    scopes: set[str],
) -> None:
    """Every act over HTTP, by callers with less, the same and more."""
    caller, target = callers[name(manager)], person(service, chief, scopes)

    answers = {what: act(caller, target.user_id, what) for what in ACTS}

    codes = {what: answer.status_code for what, answer in answers.items()}
    if scopes <= manager:
        # There is no change to confirm for an admin; and who requested one does not confirm it.
        assert codes.pop("email/confirm") == 404
        assert codes.pop("second-factor/reset") == 409, "there is none"
        assert codes == dict.fromkeys(codes, 200)
        return
    assert codes == dict.fromkeys(ACTS, 401)
    assert still_signed_in(target)
    (seen,) = chief.get("/users", words=target.email).json()["users"]
    assert (seen["state"], seen["scopes"]) == ("active", sorted(scopes))


def test_an_operator_does_nothing_of_it_to_himself(service: Service, chief: Operator) -> None:
    own = new_operator(service)
    for what in ACTS:
        assert act(own, user_id(chief, own.email), what).status_code == 409, what
    assert own.get("/members").status_code == 200


def test_the_address_of_an_operator_waits_for_the_old_address(
    service: Service, chief: Operator
) -> None:
    target = person(service, chief, {"health", "keys"})
    moved = f"moved-{uuid.uuid4().hex[:8]}@network.example"

    asked = act(chief, target.user_id, "email", moved)

    assert (asked.json()["email"], asked.json()["pendingEmail"]) == (target.email, moved)
    assert still_signed_in(target)
    assert not mails(service, moved)
    # The link confirms; it sets no password.
    link = latest_link(service, target.email)
    assert set_password(target.client, link).status_code == 401
    page = httpx2.get(link)
    assert moved in page.text
    token = {"token": link.rpartition("/")[2]}
    assert target.client.post("/v1/user/link/confirm", json=token).status_code == 200
    assert target.client.post("/v1/user/link/confirm", json=token).status_code == 401
    assert not still_signed_in(target)
    assert set_password(target.client, latest_link(service, moved)).status_code == 200


def test_a_second_operator_confirms_an_address_but_no_account_made_for_it(
    service: Service, chief: Operator
) -> None:
    """Permitted acts combined: make an operator, and let it confirm one's own request."""
    second, target = new_operator(service), person(service, chief, {"members"})
    service.advance("PT25H")
    attacker = new_operator(service, "members")
    mine = f"mine-{uuid.uuid4().hex[:8]}@evil.example"
    assert act(attacker, target.user_id, "email", mine).status_code == 200
    assert act(attacker, target.user_id, "email/confirm", mine).status_code == 409
    accomplice = new_operator(service, "members")
    assert act(accomplice, target.user_id, "email/confirm", mine).status_code == 409
    other = f"other-{mine}"
    assert act(second, target.user_id, "email/confirm", other).status_code == 404
    assert still_signed_in(target)

    assert act(second, target.user_id, "email/confirm", mine).status_code == 200
    assert not still_signed_in(target)


def confirmed(service: Service, target: Person) -> int:
    """The answer to a confirmation by the link that the person got last."""
    token = {"token": latest_link(service, target.email).rpartition("/")[2]}
    return target.client.post("/v1/user/link/confirm", json=token).status_code


def test_a_change_that_no_one_confirms_ends_after_a_day(service: Service, chief: Operator) -> None:
    target = person(service, chief, {"health"})
    act(chief, target.user_id, "email")
    service.advance("PT24H1S")
    assert confirmed(service, target) == 401


def test_a_change_of_address_ends_with_the_account_and_is_not_revived(
    service: Service, chief: Operator
) -> None:
    target = person(service, chief, {"health"})
    act(chief, target.user_id, "email")
    act(chief, target.user_id, "disable")
    act(chief, target.user_id, "enable")

    assert confirmed(service, target) == 401


def test_a_change_of_address_ends_with_the_last_scope(service: Service, chief: Operator) -> None:
    target = person(service, chief, {"health"})
    act(chief, target.user_id, "email")

    emptied = chief.post("/operators", email=target.email, scopes=[])

    assert emptied.status_code == 200
    assert confirmed(service, target) == 401


def test_a_change_of_address_ends_with_another_one(service: Service, chief: Operator) -> None:
    """One that waited since the person was an operator."""
    target = person(service, chief, set())

    async def left_waiting(dependencies: Dependencies) -> None:
        async with dependencies.transaction() as tx:
            now = await People(tx).now()
            waiting = AddressChange(
                target.user_id, "first@evil.example", "", now, now + timedelta(days=1), b"left"
            )
            await AddressChanges(tx).request(waiting)

    async def still_waiting(dependencies: Dependencies) -> AddressChange | None:
        async with dependencies.transaction() as tx:
            return await AddressChanges(tx).of_user(target.user_id)

    service.in_store(left_waiting)
    assert act(chief, target.user_id, "email").status_code == 200
    assert service.in_store(still_waiting) is None


def test_scopes_cannot_be_cut_down_to_what_the_caller_holds(
    service: Service, chief: Operator
) -> None:
    """Permitted acts combined: empty the operator first, then move the account."""
    caller, target = new_operator(service, "members"), person(service, chief, {"members", "keys"})

    for scopes in ([], ["members"], ["keys", "members", "audit"]):
        assert caller.post("/operators", email=target.email, scopes=scopes).status_code == 409
    partly = caller.post("/operators", email=target.email, scopes=["keys"])

    assert partly.status_code == 200  # its own scope it may take; the rest still protects
    assert act(caller, target.user_id, "email").status_code == 401
    assert act(caller, target.user_id, "disable").status_code == 401


def test_a_disabled_operator_is_not_taken_over_by_enabling_and_inviting(
    service: Service, chief: Operator
) -> None:
    """Permitted acts combined: what one operator disabled, another with less does not revive."""
    caller, target = new_operator(service, "members"), person(service, chief, {"keys"})
    assert act(chief, target.user_id, "disable").status_code == 200
    for what in ("enable", "invite", "email"):
        assert act(caller, target.user_id, what).status_code == 401
    assert act(chief, target.user_id, "invite").status_code == 404


def test_an_operator_is_made_no_members_admin_to_be_acted_on(
    service: Service, chief: Operator
) -> None:
    """Permitted acts combined: make the operator an admin, then act on an admin."""
    caller, target = new_operator(service, "members"), person(service, chief, {"keys"})
    own = {mail["id"] for mail in mails(service, target.email)}
    entity_id = f"X-{uuid.uuid4().hex[:10]}"
    new = {"entityId": entity_id, "type": "FIP", "name": "Evil Bank", "adminEmail": target.email}
    assert caller.post("/members", **new).status_code == 409
    entity_id = new_member(service).entity_id

    for what in ACTS:
        assert act(caller, target.user_id, what).status_code == 401, what
    browser = reader(service)
    browser.sign_in(caller.email)
    page = f"/console/operator/members/{entity_id}"
    assert browser.act(page, f"{page}/invitation", email=target.email).status_code == 404
    sent = [mail for mail in mails(service, target.email) if mail["id"] not in own]
    assert not [mail for mail in sent if "your password" in mail["subject"]]


def test_a_members_place_is_not_handed_to_an_operator(service: Service, chief: Operator) -> None:
    caller, target = new_operator(service, "members"), person(service, chief, {"keys"})
    member = new_member(service)
    added = caller.post("/members/admins/add", entityId=member.entity_id, email=target.email)
    handed = caller.post(
        "/members/admins/handover",
        entityId=member.entity_id,
        leaving=member.email,
        email=target.email,
    )

    assert (added.status_code, handed.status_code) == (409, 409)
    (seen,) = chief.get("/users", words=target.email).json()["users"]
    assert seen["administers"] == []
    assert member.read().status_code == 200


def test_the_console_refuses_the_same(service: Service, chief: Operator) -> None:
    target = person(service, chief, {"keys"})
    caller = new_operator(service, "members")
    browser = reader(service)
    browser.sign_in(caller.email)
    page = "/console/operator/people"

    emptied = browser.act(page, page, email=target.email)
    own = browser.act(page, page, email=caller.email, keys="on")

    assert (emptied.status_code, own.status_code) == (409, 409)
    (seen,) = chief.get("/users", words=target.email).json()["users"]
    assert seen["scopes"] == ["keys"]


def test_a_refused_change_is_in_the_audit(service: Service, chief: Operator) -> None:
    caller, target = new_operator(service, "members"), person(service, chief, {"keys"})
    act(caller, target.user_id, "disable")
    caller.post("/operators", email=target.email, scopes=[])

    events = chief.get("/audit", event="operator:account:change").json()["events"]

    mine = [one for one in events if one["actor"] == f"operator:{caller.email}"]
    assert {(one["outcome"], one["reason"]) for one in mine} == {("refused", "scope-keys-missing")}
    assert len(mine) == 2


@pytest.fixture
def lone(strict: Service) -> Service:
    """A network whose operators can be counted: those of earlier tests have lost their scopes."""
    leave_alone(strict)
    return strict


def listed_managers(service: Service) -> list[str]:
    rows = json.loads(service.cli("operator", "list", "--json").stdout)
    return [row["email"] for row in rows if "members" in row["scopes"] and row["state"] == "active"]


def at_once(what: str, one: Operator, other: Operator, ids: dict[str, str]) -> list[int]:
    """Both act on each other at the same moment; gives the sorted status codes."""
    barrier = threading.Barrier(2)

    def attack(pair: tuple[Operator, Operator]) -> int:
        by, on = pair
        barrier.wait()
        if what == "empty":
            return by.post("/operators", email=on.email, scopes=[]).status_code
        return act(by, ids[on.email], what).status_code

    with ThreadPoolExecutor(2) as threads:
        return sorted(threads.map(attack, [(one, other), (other, one)]))


def test_of_two_who_disable_or_empty_each_other_at_once_one_stays(lone: Service) -> None:
    """Also on one machine's own commands the last one stays."""
    first, second = new_operator(lone), new_operator(lone)
    for what in ("disable", "empty", "disable", "empty"):
        ids = {one.email: user_id(first, one.email) for one in (first, second)}
        codes = at_once(what, first, second, ids)

        (left,) = managers(lone)
        assert codes in ([200, 401], [200, 409])
        first, second = (first if left == ids[first.email] else second), new_operator(lone)

    lone.cli("operator", "end", second.email)
    for command in (
        ("operator", "end", first.email),
        ("operator", "create", first.email, "--scope", "health"),
        ("admin", "disable", first.email),
    ):
        refused = lone.cli(*command, check=False)
        assert refused.exit_code == 1
        assert "last active operator" in refused.stderr
    assert listed_managers(lone) == [first.email]
