"""The invited person declines (decision 0131): by POST alone, with or without an account."""

import httpx2
import pytest
from tests.security.people.admin_calls import accept, address, ask, confirm, decline, invited
from tests.support.mailbox import latest_link, mails
from tests.support.members import Member, new_member, set_password
from tests.support.people.operators import new_operator
from tests.support.service import Service


def listed(member: Member) -> list[str]:
    return [one["email"] for one in ask(member, "list").json()["admins"]]


@pytest.mark.parametrize("role", ["admin", "reader"])
def test_the_link_is_void_and_who_invited_is_informed(service: Service, role: str) -> None:
    member, email = new_member(service), address()
    link = invited(member, email, role)
    page = httpx2.get(link).text
    assert "Decline the invitation" in page
    assert listed(member) == [member.email, email], "opening the page ends nothing"

    answer = decline(member, link)

    assert (answer.status_code, answer.json()["status"]) == (200, "declined")
    assert listed(member) == [member.email]
    refused = set_password(service.client(), link)
    assert refused.status_code == 401
    assert "declined" in refused.json()["errorMsg"]
    assert decline(member, link).status_code == 401
    gone = httpx2.get(link)
    assert gone.status_code == 410
    assert "withdrawn or declined" in gone.text
    message = mails(service, member.email)[-1]
    assert message["subject"] == f"Kaveri Bank: {email} declined the invitation"
    assert f"({member.entity_id})" in message["text"]
    assert f"be {'a reader' if role == 'reader' else 'an admin'} of" in message["text"]
    assert not message["links"]
    auditor = new_operator(service, "audit")
    events = auditor.get("/audit", entityId=member.entity_id, limit="20").json()["events"]
    assert "invitation-declined" in [one["detail"].get("change") for one in events]


def test_who_declined_can_be_invited_again_and_accept(service: Service) -> None:
    member, other = new_member(service), new_member(service)
    assert decline(other, invited(member, other.email)).status_code == 200

    again = invited(member, other.email)

    assert confirm(other, again).status_code == 200
    assert listed(member) == [member.email, other.email]


def test_a_hand_over_that_is_declined_leaves_the_role_where_it_is(service: Service) -> None:
    member, email, other = new_member(service), address(), address()
    second = accept(member, invited(member, other), other)
    assert ask(member, "handover", email=email).status_code == 200
    link = latest_link(service, email)
    informed = len(mails(service, second.email))

    assert decline(member, link).status_code == 200

    assert listed(member) == [member.email, other]
    assert member.read().status_code == 200
    message = mails(service, member.email)[-1]
    assert message["subject"] == f"Kaveri Bank: {email} declined to take over"
    assert f"({member.entity_id})" in message["text"]
    assert len(mails(service, second.email)) == informed, "the inviter alone"
    assert ask(member, "handover", email=email).status_code == 200


def test_one_declines_what_was_sent_to_them_alone(service: Service) -> None:
    """A GET changes nothing, and neither a link to a password nor a made-up one is declined."""
    member, email = new_member(service), address()
    link = invited(member, email)
    token = link.rpartition("/")[2]

    assert member.client.get("/v1/user/link/decline", params={"token": token}).status_code == 405
    assert decline(member, "/" + "A" * 43).status_code == 401
    onboarding = next(one["links"][0] for one in mails(service, member.email) if one["links"])
    assert decline(member, onboarding).status_code == 401
    service.advance("PT24H1S")
    assert decline(member, link).status_code == 401
    assert listed(member) == [member.email]


def test_by_the_command_line(service: Service) -> None:
    member, email = new_member(service), address()
    link = invited(member, email)

    done = service.cli("password", "decline", stdin=link + "\n")

    assert "declined" in done.stdout
    assert listed(member) == [member.email]
