"""Who waits for a lock acts by the rights that the one before left (ARCHITECTURE.md, rule 2)."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

import httpx2
import pytest
from tests.support.database.lock_holder import LockHolder, lock_holder
from tests.support.depth import with_every_change
from tests.support.http_clients import NO_TLS
from tests.support.members import Member
from tests.support.people.operators import Operator, new_operator
from tests.support.registry.registry_members import Registry, payload_of
from tests.support.service import Service

OPERATORS = "SELECT pg_advisory_xact_lock(hashtextextended('operators', 0))"
REGISTRY = f"SELECT pg_advisory_xact_lock({0x6D7564726102})"
ENTITY = "SELECT FROM entity WHERE entity_id = '{entity_id}' FOR UPDATE"
SECRETS = "LOCK TABLE entity_secret IN ACCESS EXCLUSIVE MODE"
DISABLED = "UPDATE user_account SET state = 'disabled' WHERE email = %s"
WITHOUT_SCOPES = (
    "DELETE FROM operator_scope WHERE user_id = (SELECT user_id FROM user_account WHERE email = %s)"
)
WITHOUT_ROLE = (
    "DELETE FROM entity_admin WHERE user_id = (SELECT user_id FROM user_account WHERE email = %s)"
)
SUSPENDED = "UPDATE entity SET status = 'suspended' WHERE entity_id = %s"
SUSPENDED_AND_BACK = (
    "UPDATE entity SET tokens_not_before = now() + interval '50 years' WHERE entity_id = %s"
)
Meanwhile: TypeAlias = Callable[[Callable[[], httpx2.Response], str, str, str], httpx2.Response]


@pytest.fixture
def staff(service: Service) -> Operator:
    return new_operator(service)


@pytest.fixture(scope="module")
def holder(service: Service) -> Iterator[LockHolder]:
    with lock_holder(service) as found:
        yield found


@pytest.fixture
def meanwhile(holder: LockHolder) -> Iterator[Meanwhile]:
    """Acts while another session holds a lock, and takes the right of `who` before it ends."""
    yield holder.meanwhile
    holder.session.rollback()  # what a test that failed has left


@pytest.fixture(scope="module")
def observer(service: Service) -> Operator:
    return new_operator(service, "members", "registry")


def listed(observer: Operator, member: Member) -> list[object]:
    """What operators see of a member and its binding."""
    (found,) = observer.get("/members", words=member.entity_id).json()["members"]
    bound = observer.get(f"/members/{member.entity_id}/address-binding").json()
    return [found, bound["binding"]]


def history(observer: Operator, member: Member) -> object:
    """All versions of a member's entry, its keys and its standing."""
    answer = observer.get(f"/registry/entries/{member.entity_id}")
    assert answer.status_code == 200, answer.text
    return {name: answer.json()[name] for name in ("versions", "keys", "standing")}


def approve(observer: Operator, member: Member) -> None:
    done = observer.post(f"/registry/entries/{member.entity_id}/decide", act="approve", version=1)
    assert done.status_code == 200, done.text


def acts_on(member: Member) -> dict[str, tuple[str, dict[str, object]]]:
    """What an operator asks of a member: the path and the body of each act."""
    entity = {"entityId": member.entity_id}
    return {
        "add": ("/members/admins/add", {**entity, "email": f"new-{member.email}"}),
        "remove": ("/members/admins/remove", {**entity, "email": member.email}),
        "replace": (
            "/members/admins/handover",
            {**entity, "leaving": member.email, "email": f"new-{member.email}"},
        ),
        "contact": ("/members/contact", {**entity, "email": f"backup-{member.email}"}),
        "status": (
            f"/members/{member.entity_id}/status",
            {"status": "suspended", "reason": "a test"},
        ),
        "binding": (f"/members/{member.entity_id}/address-binding", {"binding": "watch"}),
    }


@pytest.mark.parametrize(
    "taken", with_every_change([DISABLED], [DISABLED, WITHOUT_SCOPES]), ids=["disabled", "no scope"]
)
@pytest.mark.parametrize(
    ("act", "lock"),
    [
        ("add", OPERATORS),
        ("add", ENTITY),
        ("replace", OPERATORS),
        ("remove", ENTITY),
        ("contact", ENTITY),
        ("status", REGISTRY),
        ("status", ENTITY),
        ("binding", ENTITY),
    ],
)
def test_an_operator_who_lost_the_right_while_waiting_changes_no_member(  # facts of the case
    staff: Operator,
    observer: Operator,
    member: Member,
    meanwhile: Meanwhile,
    act: str,
    lock: str,
    taken: str,
) -> None:
    before, (path, body) = listed(observer, member), acts_on(member)[act]
    held = lock.format(entity_id=member.entity_id)

    answer = meanwhile(lambda: staff.post(path, **body), held, taken, staff.email)

    assert answer.status_code == 401, answer.text
    assert listed(observer, member) == before


@pytest.mark.parametrize("lock", [OPERATORS, REGISTRY], ids=["operators", "registry"])
def test_nor_onboards_one(
    staff: Operator, observer: Operator, member: Member, meanwhile: Meanwhile, lock: str
) -> None:
    new = f"X-{member.entity_id}"
    body = {"entityId": new, "type": "FIP", "name": "X Bank", "adminEmail": f"x-{member.email}"}

    answer = meanwhile(lambda: staff.post("/members", **body), lock, DISABLED, staff.email)

    assert answer.status_code == 401, answer.text
    assert observer.get("/members", words=new).json()["members"] == []


@pytest.mark.parametrize(
    "taken", with_every_change([DISABLED], [DISABLED, WITHOUT_SCOPES]), ids=["disabled", "no scope"]
)
def test_nor_decides_on_an_entry(
    staff: Operator, observer: Operator, member: Member, meanwhile: Meanwhile, taken: str
) -> None:
    assert Registry(member).submit(payload_of(member)).status_code == 200
    before = history(observer, member)
    path = f"/registry/entries/{member.entity_id}/decide"

    answer = meanwhile(
        lambda: staff.post(path, act="approve", version=1), REGISTRY, taken, staff.email
    )

    assert answer.status_code == 401, answer.text
    assert history(observer, member) == before


def test_nor_submits_one(staff: Operator, member: Member, meanwhile: Meanwhile) -> None:
    registry, payload = Registry(member), payload_of(member)

    answer = meanwhile(
        lambda: registry.submit(payload, **staff.headers), REGISTRY, DISABLED, staff.email
    )

    assert answer.status_code == 401, answer.text
    assert registry.submit(payload_of(member)).json()["status"] == "submitted"


@pytest.mark.parametrize(
    "taken", with_every_change([DISABLED], [DISABLED, WITHOUT_ROLE]), ids=["disabled", "no role"]
)
@pytest.mark.parametrize("act", ["reset", "retire"])
def test_an_admin_who_was_removed_while_waiting_gets_no_secret(
    member: Member, meanwhile: Meanwhile, act: str, taken: str
) -> None:
    headers, secret = member.bearer(), member.secret()
    if act == "retire":
        assert member.reset(headers, oldSecretValidity=1).status_code == 200
    body = {"entityId": member.entity_id}
    lock = ENTITY.format(entity_id=member.entity_id)

    answer = meanwhile(
        lambda: member.client.post(f"/v1/entity/secret/{act}", json=body, headers=headers),
        *(lock, taken, member.email),
    )

    assert answer.status_code == 401, answer.text
    assert "secret" not in answer.json()
    assert member.entity_token(secret).status_code == 200


@pytest.mark.parametrize(
    "taken", with_every_change([DISABLED], [DISABLED, WITHOUT_ROLE]), ids=["disabled", "no role"]
)
def test_nor_reads_one(member: Member, meanwhile: Meanwhile, taken: str) -> None:
    headers = member.bearer()

    answer = meanwhile(lambda: member.read(headers), SECRETS, taken, member.email)

    assert answer.status_code == 401, answer.text
    assert "secret" not in answer.json()


def test_nor_binds_its_addresses(observer: Operator, member: Member, meanwhile: Meanwhile) -> None:
    registry, headers = Registry(member), member.bearer()
    assert registry.submit(payload_of(member)).status_code == 200
    approve(observer, member)
    body = {"entityId": member.entity_id, "binding": "enforce", "evenSo": True}
    lock = ENTITY.format(entity_id=member.entity_id)

    answer = meanwhile(
        lambda: member.client.post("/v1/entity/address/binding", json=body, headers=headers),
        *(lock, WITHOUT_ROLE, member.email),
    )

    assert answer.status_code == 401, answer.text
    assert member.entity_token(registry.secret).status_code == 200


@pytest.mark.parametrize("act", ["update", "retire"])
def test_nor_changes_its_entry(
    observer: Operator, member: Member, meanwhile: Meanwhile, act: str
) -> None:
    registry, headers, payload = Registry(member), member.bearer(), payload_of(member)
    assert registry.submit(payload_of(member)).status_code == 200
    approve(observer, member)
    before = history(observer, member)
    entry = f"{registry.root}/entityInfo/FIP/{member.entity_id}"
    acts = {
        "update": lambda: registry.update(payload, **headers),
        "retire": lambda: httpx2.delete(
            entry, params={"reason": "a test"}, headers=headers, verify=NO_TLS
        ),
    }

    answer = meanwhile(acts[act], REGISTRY, WITHOUT_ROLE, member.email)

    assert answer.status_code == 401, answer.text
    assert history(observer, member) == before


@pytest.mark.parametrize("then", [SUSPENDED, SUSPENDED_AND_BACK], ids=["suspended", "and back"])
def test_an_entity_that_was_suspended_while_waiting_changes_no_entry(
    observer: Operator, member: Member, meanwhile: Meanwhile, then: str
) -> None:
    registry, payload = Registry(member), payload_of(member)
    assert registry.submit(payload_of(member)).status_code == 200
    approve(observer, member)
    before = history(observer, member)

    answer = meanwhile(lambda: registry.update(payload), REGISTRY, then, member.entity_id)

    assert answer.status_code == 401, answer.text
    assert history(observer, member) == before
