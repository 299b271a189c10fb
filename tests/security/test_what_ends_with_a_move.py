"""A member's account that is moved or disabled ends what went out in its name (decision 0072)."""

import pytest
from tests.security.people.admin_calls import accept, address, ask, confirm, invited
from tests.support.mailbox import latest_link, mails
from tests.support.members import Member, new_member, set_password
from tests.support.people.operators import Operator, new_operator
from tests.support.people.second_factor import user_id
from tests.support.service import Service


@pytest.fixture
def staff(service: Service) -> Operator:
    return new_operator(service, "members")


def moved(service: Service, staff: Operator, email: str) -> str:
    """Move an account to another mailbox, whose reader sets a password; gives its address."""
    new = address("moved")
    who = user_id(service, email)
    assert staff.post(f"/users/{who}/email", email=new).status_code == 200
    link = latest_link(service, new)
    assert set_password(service.client(), link).status_code == 200
    return new


def disabled_and_enabled(service: Service, staff: Operator, email: str) -> str:
    who = user_id(service, email)
    for act in ("disable", "enable"):
        assert staff.post(f"/users/{who}/{act}").status_code == 200
    return email


def admins(member: Member) -> set[str]:
    answer = ask(member, "list")
    assert answer.status_code == 200, answer.text
    return {one["email"] for one in answer.json()["admins"] if one["role"] == "admin"}


@pytest.mark.parametrize("change", [moved, disabled_and_enabled])
def test_who_was_invited_by_a_thief_does_not_come_in_after_the_repair(
    service: Service, staff: Operator, change
) -> None:
    member, thief, heir = new_member(service), address("thief"), address("heir")
    by_invitation = invited(member, thief)
    assert ask(member, "handover", email=heir).status_code == 200
    by_hand_over = latest_link(service, heir)

    owner = Member(
        service,
        member.entity_id,
        change(service, staff, member.email),
        member.password,
        member.client,
    )

    for link in (by_invitation, by_hand_over):
        assert set_password(service.client(), link).status_code == 401
    assert admins(owner) == {owner.email}


@pytest.mark.parametrize("change", [moved, disabled_and_enabled])
def test_a_reader_who_was_invited_as_admin_is_no_admin_by_the_former_link(
    service: Service, staff: Operator, change
) -> None:
    member, email = new_member(service), address("reader")
    accept(member, invited(member, email, "reader"), email)
    as_admin = invited(member, email)

    change(service, staff, email)

    assert confirm(member, as_admin).status_code == 401
    assert set_password(service.client(), as_admin).status_code == 401
    assert admins(member) & {email} == set()


def test_an_operator_who_enables_an_admin_is_seen(service: Service, staff: Operator) -> None:
    """Enabled, it reads the secret, and is disabled: the others learn of it (0072)."""
    member, second, team = new_member(service), address(), address("team")
    accept(member, invited(member, second), second)
    contact = {"entityId": member.entity_id, "email": team}
    assert staff.post("/members/contact", **contact).status_code == 200
    disabled_and_enabled(service, staff, member.email)

    for to in (second, team):
        message = mails(service, to)[-1]
        assert "the operator enabled an admin again" in message["subject"]
        assert member.entity_id in message["text"]
        assert member.email in message["text"]
    who = user_id(service, member.email)
    assert staff.post(f"/users/{who}/enable").status_code == 200  # is enabled already
    assert sum("again" in one["subject"] for one in mails(service, second)) == 1
