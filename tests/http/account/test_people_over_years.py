"""Admins come and go, accounts are switched off and on, operators look after them."""

import json
import uuid

import httpx2
import jwt
import pytest
from tests.support.mailbox import latest_link, mails, subjects
from tests.support.members import Member, new_member, set_password
from tests.support.people.operators import Operator, new_operator
from tests.support.service import PASSWORD, Service


@pytest.fixture(scope="module")
def members_operator(service: Service) -> Operator:
    return new_operator(service, "members")


@pytest.fixture(scope="module")
def strangers(service: Service) -> tuple[Member, Member]:
    """Two who stay as they are."""
    return new_member(service), new_member(service)


def address() -> str:
    return f"ravi-{uuid.uuid4().hex[:10]}@member.example"


def ask(member: Member, path: str, **members: object) -> httpx2.Response:
    return member.client.post(
        f"/v1{path}", json={"entityId": member.entity_id, **members}, headers=member.bearer()
    )


def second_admin(member: Member) -> Member:
    """A second admin of a member, added by the first and activated."""
    email = address()
    added = ask(member, "/entity/admin/add", email=email, name="Ravi Iyer")
    assert added.status_code == 200, added.text
    client = member.service.client()
    assert set_password(client, latest_link(member.service, email)).status_code == 200
    return Member(member.service, member.entity_id, email, PASSWORD, client)


def user_id(operator: Operator, email: str) -> str:
    (user,) = operator.get("/users", words=email).json()["users"]
    return user["userId"]


def test_a_second_admin_is_invited_and_gets_the_emails_too(member: Member):
    second = second_admin(member)

    assert second.read().status_code == 200
    second.reset()

    for email in (member.email, second.email):
        message = mails(member.service, email)[-1]
        assert "was reset on" in message["text"]
        assert f"by {second.email}" in message["text"]


def test_a_removed_admin_has_no_right_from_that_moment(member: Member):
    second = second_admin(member)
    headers = second.bearer()
    assert second.read(headers).status_code == 200

    assert ask(member, "/entity/admin/remove", email=second.email).status_code == 200

    assert second.read(headers).status_code == 401


def test_the_last_admin_who_can_act_cannot_be_removed_by_a_member(member: Member):
    # The other one was invited and has no password yet, so she could not act.
    ask(member, "/entity/admin/add", email=address())

    answer = ask(member, "/entity/admin/remove", email=member.email)

    assert answer.status_code == 409
    assert "last admin" in answer.json()["errorMsg"]
    assert member.read().status_code == 200


def test_a_refused_hand_over_changes_nothing(service: Service, members_operator: Operator):
    member = new_member(service)

    answer = members_operator.post(
        "/members/admins/handover",
        entityId=member.entity_id,
        leaving="nobody@member.example",
        email=address(),
    )

    assert answer.status_code == 404
    listed = ask(member, "/entity/admin/list").json()
    assert [admin["email"] for admin in listed["admins"]] == [member.email]


def test_one_admin_of_two_entities(service: Service, members_operator: Operator):
    one, other = new_member(service), new_member(service)

    members_operator.post("/members/admins/add", entityId=other.entity_id, email=one.email)

    both = Member(service, other.entity_id, one.email, PASSWORD, one.client)
    assert both.read().status_code == one.read().status_code == 200
    claims = jwt.decode(one.user_token(), options={"verify_signature": False})
    assert set(claims["entity_meta"]) == {one.entity_id, other.entity_id}


@pytest.mark.parametrize(
    "path",
    [
        "/entity/admin/list",
        "/entity/admin/add",
        "/entity/admin/remove",
        "/entity/admin/handover",
        "/entity/contact/set",
    ],
)
def test_no_one_changes_the_admins_of_another_entity(strangers: tuple[Member, Member], path: str):
    mine, other = strangers

    answers = [
        mine.client.post(
            f"/v1{path}",
            json={"entityId": entity_id, "email": address()},
            headers=mine.bearer(),
        )
        for entity_id in (other.entity_id, "NO-SUCH-ENTITY")
    ]

    assert [answer.status_code for answer in answers] == [401, 401]
    assert answers[0].json()["errorMsg"] == answers[1].json()["errorMsg"]


def test_the_backup_contact_gets_the_emails_of_the_secret(member: Member):
    staff = address()
    assert ask(member, "/entity/contact/set", email=staff).json()["contact"] == staff

    member.reset()
    ask(member, "/entity/contact/set", email="")
    member.service.advance("PT6M")
    member.reset()

    about_secrets = [one for one in subjects(member.service, staff) if "secret" in one]
    assert len(about_secrets) == 1


def test_another_address_of_the_contact_keeps_its_telephone(member: Member):
    phone = "+91 80 4000 1234"
    ask(member, "/entity/contact/set", email="", phone=phone)

    answer = ask(member, "/entity/contact/set", email=(staff := address())).json()

    assert (answer["contact"], answer["phone"]) == (staff, phone)
    assert ask(member, "/entity/contact/set", email=staff, phone="").json()["phone"] == ""


def test_own_tokens_are_listed_with_their_last_use_and_revoked_one_by_one(member: Member):
    first, second = member.sign_in(), member.sign_in()
    member.read(first)

    listed = member.client.get("/v1/user/token/list", headers=second).json()["tokens"]
    used = next(t for t in listed if t["jti"] == jti(first))
    revoked = member.client.post("/v1/user/token/revoke", json={"jti": jti(first)}, headers=second)

    assert used["lastAddress"].startswith("127.")
    assert "lastUsedAt" in used
    assert revoked.json()["status"] == "revoked"
    assert member.read(first).json()["errorCode"] == "TokenRevoked"
    assert member.read(second).status_code == 200


def test_a_token_of_another_user_is_not_revoked(service: Service):
    mine, other = new_member(service), new_member(service)
    theirs = other.bearer()

    answer = mine.client.post(
        "/v1/user/token/revoke", json={"jti": jti(theirs)}, headers=mine.bearer()
    )

    assert answer.json()["status"] == "nothing to revoke"
    assert other.read(theirs).status_code == 200


def jti(headers: dict[str, str]) -> str:
    token = headers["Authorization"].removeprefix("Bearer ")
    return jwt.decode(token, options={"verify_signature": False})["jti"]


def test_a_disabled_user_is_out_at_once_and_comes_back_by_password(
    member: Member, members_operator: Operator
):
    """A14: tokens end with the change."""
    headers = member.bearer()
    who = user_id(members_operator, member.email)

    off = members_operator.post(f"/users/{who}/disable")
    while_off = member.read(headers)
    on = members_operator.post(f"/users/{who}/enable")

    assert off.json()["state"] == "disabled"
    assert off.json()["tokensEnded"] >= 1
    assert "no admin who can act" in off.json()["warnings"][0]
    assert while_off.status_code == 401
    assert on.json()["state"] == "active"
    assert on.json()["warnings"] == []
    assert member.read(headers).json()["errorCode"] == "TokenRevoked"
    assert member.read(member.sign_in()).status_code == 200


def test_a_change_of_address_is_notified_to_both_and_verified(
    member: Member, members_operator: Operator
):
    """A14: tokens end with the change."""
    headers, email = member.bearer(), address()
    who = user_id(members_operator, member.email)

    answer = members_operator.post(f"/users/{who}/email", email=email)

    assert answer.json()["state"] == "invited"
    assert member.read(headers).json()["errorCode"] in {"TokenRevoked", "Unauthorized"}
    for reader in (member.email, email):
        texts = " ".join(mail["text"] for mail in mails(member.service, reader))
        assert f"{email}" in texts
    assert set_password(member.client, latest_link(member.service, email)).status_code == 200
    moved = Member(member.service, member.entity_id, email, PASSWORD, member.client)
    assert moved.read().status_code == 200


def test_an_operator_token_says_its_role_and_scopes(members_operator: Operator):
    token = members_operator.headers["Authorization"].removeprefix("Bearer ")

    claims = jwt.decode(token, options={"verify_signature": False})

    assert claims["roles"] == "operator"
    assert claims["scope"] == "members"


def test_scopes_are_read_at_each_call_and_not_from_the_token(service: Service):
    operator = new_operator(service, "members")
    assert operator.get("/members").status_code == 200

    service.cli("operator", "create", operator.email, "--scope", "health")

    answer = operator.get("/members")
    assert answer.status_code == 401
    assert "scope members" in answer.json()["errorMsg"]


def test_the_role_ends_by_one_command_and_only_where_there_is_one(service: Service):
    operator = new_operator(service, "members", "health")

    ended = json.loads(service.cli("operator", "end", operator.email, "--json").stdout)
    again = service.cli("operator", "end", operator.email, check=False)

    assert ended == {"email": operator.email, "taken": ["health", "members"]}
    assert operator.get("/members").status_code == 401
    assert (again.exit_code, "is not an operator" in again.output) == (1, True)


@pytest.mark.parametrize(
    ("scope", "path"),
    [("health", "/members"), ("health", "/users"), ("health", "/mails"), ("members", "/audit")],
)
def test_an_operator_without_the_scope_is_refused(service: Service, scope: str, path: str):
    assert new_operator(service, scope).get(path).status_code == 401


def test_an_admin_of_a_member_is_no_operator(member: Member):
    answer = member.client.get(
        f"{member.service.root}/operator/v1/members", headers=member.bearer()
    )

    assert answer.status_code == 401


def test_an_operator_cannot_read_or_reset_a_secret(member: Member, members_operator: Operator):
    body = {"json": {"entityId": member.entity_id}, "headers": members_operator.headers}

    for what in ("read", "reset"):
        assert members_operator.client.post(f"/v1/entity/secret/{what}", **body).status_code == 401


def test_an_admin_cannot_be_made_an_operator(member: Member):
    done = member.service.cli("operator", "create", member.email, check=False)

    assert done.exit_code == 1


def test_members_are_listed_by_page_and_filter(service: Service, members_operator: Operator):
    mine = sorted(new_member(service, "AA").entity_id for _ in range(3))

    seen, after = list[str](), ""
    while True:
        answer = members_operator.get("/members", type="AA", limit="2", after=after).json()
        seen += [row["entityId"] for row in answer["members"]]
        if "next" not in answer:
            break
        after = answer["next"]

    assert seen == sorted(set(seen))
    assert set(mine) <= set(seen)
    assert members_operator.get("/members", words=mine[0]).json()["members"][0]["type"] == "AA"
    turned = members_operator.get("/members", words=f"{mine[0][5:]} {mine[0][:5].lower()}")
    assert mine[0] in {row["entityId"] for row in turned.json()["members"]}


@pytest.mark.parametrize("query", [{"limit": "0"}, {"limit": "x"}, {"type": "BANK"}])
def test_a_wrong_filter_is_notified(members_operator: Operator, query: dict[str, str]):
    answer = members_operator.get("/members", **query)

    assert answer.status_code == 400
    assert next(iter(query)) in answer.json()["errorMsg"]


def test_a_suspended_member_gets_no_token_and_a_restored_one_does(
    member: Member, members_operator: Operator
):
    secret = member.secret()
    assert member.entity_token(secret).status_code == 200

    def put(status: str) -> None:
        path = f"/members/{member.entity_id}/status"
        assert members_operator.post(path, status=status, reason="a test").status_code == 200

    put("suspended")
    suspended = member.entity_token(secret)
    put("active")

    assert suspended.status_code == 401
    assert member.entity_token(secret).status_code == 200


def test_an_operator_onboards_and_sends_the_invitation_again(
    service: Service, members_operator: Operator
):
    email = address()
    entity_id = f"T-{uuid.uuid4().hex[:10]}"
    order = {"entityId": entity_id, "type": "FIU", "name": "Finsight", "adminEmail": email}

    first = members_operator.post("/members", **order).json()
    again = members_operator.post("/members", **order).json()
    old_link = latest_link(service, email)
    members_operator.post(f"/users/{user_id(members_operator, email)}/invite")

    assert (first["created"], first["invited"]) == (True, True)
    assert (again["created"], again["invited"]) == (False, False)
    assert set_password(members_operator.client, old_link).status_code == 401
    link = latest_link(service, email)
    assert set_password(members_operator.client, link).status_code == 200


def test_the_audit_is_searched_by_page(service: Service, member: Member):
    auditor = new_operator(service, "audit")
    for _ in range(3):
        member.read()

    pages = []
    after = ""
    for _ in range(3):
        answer = auditor.get(
            "/audit", event="entity:secret:*", entityId=member.entity_id, limit="1", after=after
        ).json()
        pages.append(answer["events"][0])
        after = answer.get("next", "")

    numbers = [event["seq"] for event in pages]
    assert numbers == sorted(numbers, reverse=True)
    assert {event["event"] for event in pages} == {"entity:secret:read"}
    assert pages[0]["actor"].startswith("user:")


def test_the_commands_warn_when_no_one_is_left(member: Member):
    done = member.service.cli("admin", "remove", member.entity_id, member.email, "--json")

    assert "no admin who can act" in json.loads(done.stdout)["warnings"][0]
