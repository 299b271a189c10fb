"""An operator who makes an account to be the second person (decision 0189): it is none."""

import uuid

import httpx2
import pytest
from tests.security.people.admin_calls import accept, address, ask
from tests.support.mailbox import latest_link
from tests.support.members import Member, new_member, set_password
from tests.support.people.operators import Operator, new_operator, with_token
from tests.support.registry.registry_members import Registry, payload_of
from tests.support.service import PASSWORD, Service


@pytest.fixture
def boss(strict: Service) -> Operator:
    return new_operator(strict)


@pytest.fixture
def other(strict: Service) -> Operator:
    return new_operator(strict, "registry")


@pytest.fixture
def listed(strict: Service, other: Operator) -> Registry:
    """A member with a live entry."""
    registry = Registry(new_member(strict))
    assert registry.submit(payload_of(registry.member)).status_code == 200
    assert approved(other, registry).status_code == 200
    return registry


def made_by(maker: Operator, service: Service, *scopes: str) -> Operator:
    """An operator whom another one makes, and who sets a password by the link."""
    email = f"made-{uuid.uuid4().hex[:10]}@network.example"
    assert maker.post("/operators", email=email, scopes=list(scopes)).status_code == 200
    assert set_password(service.client(), latest_link(service, email)).status_code == 200
    return with_token(service, email)


def changed(listed: Registry, headers: dict[str, str]) -> None:
    """Submit another key and address of the member."""
    payload = payload_of(listed.member)
    payload["entityinfo"]["ips"] = ["8.8.4.77"]
    answer = listed.update(payload, **headers)
    assert answer.json()["status"] == "submitted", answer.text


def approved(who: Operator, listed: Registry) -> httpx2.Response:
    path = f"/registry/entries/{listed.member.entity_id}"
    versions = who.get(path).json()["versions"]
    return who.post(f"{path}/decide", act="approve", version=versions[-1]["version"])


def assert_tied(answer: httpx2.Response) -> None:
    assert answer.status_code == 409, answer.text
    assert "another operator must approve" in answer.json()["errorMsg"]
    assert "what is submitted after 20" in answer.json()["errorMsg"]


def test_an_operator_whom_the_submitter_made_approves_nothing_of_theirs(
    boss: Operator, other: Operator, listed: Registry
) -> None:
    changed(listed, boss.headers)
    accomplice = made_by(boss, listed.member.service, "registry")

    assert_tied(approved(accomplice, listed))
    assert approved(other, listed).status_code == 200


@pytest.mark.slow
def test_who_made_the_submitter_approves_nothing_of_theirs(
    boss: Operator, other: Operator, listed: Registry
) -> None:
    accomplice = made_by(boss, listed.member.service, "registry")
    changed(listed, accomplice.headers)

    assert_tied(approved(boss, listed))
    assert approved(other, listed).status_code == 200


def test_two_operators_whom_one_made_are_no_two(boss: Operator, listed: Registry) -> None:
    one, another = (made_by(boss, listed.member.service, "registry") for _ in range(2))
    changed(listed, one.headers)

    assert_tied(approved(another, listed))


@pytest.mark.slow
def test_an_accomplice_of_an_accomplice_is_none_the_less_when_the_one_between_is_gone(
    boss: Operator, listed: Registry
) -> None:
    changed(listed, boss.headers)
    between = made_by(boss, listed.member.service, "members", "registry")
    accomplice = made_by(between, listed.member.service, "registry")
    assert boss.post("/operators", email=between.email, scopes=[]).status_code == 200

    assert_tied(approved(accomplice, listed))


@pytest.mark.slow
def test_a_new_operator_decides_on_what_members_and_others_submit(
    boss: Operator, other: Operator, listed: Registry
) -> None:
    new = made_by(boss, listed.member.service, "registry")

    for headers in (listed.entity, listed.member.bearer(), other.headers):
        changed(listed, headers)
        assert approved(new, listed).status_code == 200


def test_a_day_later_the_new_operator_is_a_second_person(boss: Operator, listed: Registry) -> None:
    service = listed.member.service
    new = made_by(boss, service, "registry")
    service.advance("PT24H1S")
    changed(listed, with_token(service, boss.email).headers)

    assert approved(with_token(service, new.email), listed).status_code == 200


def admin_added_by(boss: Operator, listed: Registry) -> Member:
    """An admin whom an operator adds to the member."""
    email, service = address("accomplice"), listed.member.service
    added = boss.post("/members/admins/add", entityId=listed.member.entity_id, email=email)
    assert added.status_code == 200, added.text
    client = service.client()
    assert set_password(client, latest_link(service, email)).status_code == 200
    return Member(service, listed.member.entity_id, email, PASSWORD, client)


def test_who_added_an_admin_approves_nothing_that_the_admin_submits(
    boss: Operator, other: Operator, listed: Registry
) -> None:
    changed(listed, admin_added_by(boss, listed).bearer())

    assert_tied(approved(boss, listed))
    assert approved(other, listed).status_code == 200


@pytest.mark.slow
def test_nor_the_first_entry_of_a_member_that_another_onboarded(
    boss: Operator, other: Operator, strict: Service
) -> None:
    first = Registry(new_member(strict))
    accomplice = admin_added_by(boss, first)

    submitted = first.submit(payload_of(first.member), **accomplice.bearer())

    assert submitted.status_code == 200, submitted.text
    assert_tied(approved(boss, first))
    assert approved(other, first).status_code == 200


@pytest.mark.slow
def test_nor_what_the_admin_submits_with_the_secret_that_an_admin_reads(
    boss: Operator, listed: Registry
) -> None:
    accomplice = admin_added_by(boss, listed)
    token = accomplice.entity_token(accomplice.secret()).json()["accessToken"]
    gone = {"entityId": listed.member.entity_id, "email": accomplice.email}
    assert boss.post("/members/admins/remove", **gone).status_code == 200
    changed(listed, {"Authorization": f"Bearer {token}"})

    refused = approved(boss, listed)
    assert refused.status_code == 409
    assert "reset the secret" in refused.json()["errorMsg"]


@pytest.mark.slow
def test_nor_days_later_by_the_secret_that_a_removed_admin_read_until_it_is_reset(
    boss: Operator, other: Operator, listed: Registry
) -> None:
    service, member = listed.member.service, listed.member
    accomplice = admin_added_by(boss, listed)
    secret = accomplice.secret()
    gone = {"entityId": member.entity_id, "email": accomplice.email}
    assert boss.post("/members/admins/remove", **gone).status_code == 200
    service.advance("P2D")
    changed(listed, bearer_of(member, secret))

    alone = approved(boss, listed)

    assert alone.status_code == 409
    assert "reset the secret" in alone.json()["errorMsg"]
    assert approved(other, listed).status_code == 200
    reset = member.client.post(
        "/v1/entity/secret/reset", json={"entityId": member.entity_id}, headers=member.bearer()
    )
    assert reset.status_code == 200, reset.text
    changed(listed, bearer_of(member, reset.json()["secret"]))
    assert approved(boss, listed).status_code == 200


@pytest.mark.slow
def test_a_removed_admin_who_never_read_the_secret_ties_no_one_days_later(
    boss: Operator, listed: Registry
) -> None:
    member, accomplice = listed.member, admin_added_by(boss, listed)
    gone = {"entityId": member.entity_id, "email": accomplice.email}
    assert boss.post("/members/admins/remove", **gone).status_code == 200
    member.service.advance("P2D")
    changed(listed, bearer_of(member, listed.secret))

    assert approved(boss, listed).status_code == 200


def bearer_of(member: Member, secret: str) -> dict[str, str]:
    token = member.entity_token(secret).json()["accessToken"]
    return {"Authorization": f"Bearer {token}"}


@pytest.mark.slow
def test_nor_what_someone_submits_whom_that_admin_invited(boss: Operator, listed: Registry) -> None:
    accomplice, email = admin_added_by(boss, listed), address()
    assert ask(accomplice, "add", email=email).status_code == 200
    link = latest_link(listed.member.service, email)
    changed(listed, accept(accomplice, link, email).bearer())

    assert_tied(approved(boss, listed))


@pytest.mark.slow
def test_who_moved_an_admins_address_approves_nothing_that_comes_from_it(
    boss: Operator, other: Operator, listed: Registry
) -> None:
    service, moved = listed.member.service, address("moved")
    (user,) = boss.get("/users", words=listed.member.email).json()["users"]
    assert boss.post(f"/users/{user['userId']}/email", email=moved).status_code == 200
    assert set_password(service.client(), latest_link(service, moved)).status_code == 200
    taken = Member(service, listed.member.entity_id, moved, PASSWORD, service.client())
    changed(listed, taken.bearer())

    assert_tied(approved(boss, listed))
    assert approved(other, listed).status_code == 200


@pytest.mark.slow
def test_who_enabled_an_operator_again_is_not_approved_by_them(
    boss: Operator, strict: Service, listed: Registry
) -> None:
    left = new_operator(strict, "registry")
    (user,) = boss.get("/users", words=left.email).json()["users"]
    for act in ("disable", "enable"):
        assert boss.post(f"/users/{user['userId']}/{act}").status_code == 200
    changed(listed, boss.headers)

    assert_tied(approved(with_token(strict, left.email), listed))


def test_a_first_entry_takes_two_and_what_the_first_admin_changes_does_not(
    boss: Operator, other: Operator, strict: Service
) -> None:
    """Who onboards a member does not approve its first entry, but what its admin changes then."""
    email = address("first")
    new = {"entityId": f"F-{uuid.uuid4().hex[:10]}-FIP", "type": "FIP", "name": "First Bank"}
    assert boss.post("/members", adminEmail=email, **new).status_code == 200
    client = strict.client()
    assert set_password(client, latest_link(strict, email)).status_code == 200
    registry = Registry(Member(strict, new["entityId"], email, PASSWORD, client))

    assert registry.submit(payload_of(registry.member)).status_code == 200
    refused = approved(boss, registry)
    assert refused.status_code == 409
    assert "onboarded it" in refused.json()["errorMsg"]
    assert approved(other, registry).status_code == 200
    changed(registry, registry.member.bearer())
    assert approved(boss, registry).status_code == 200
