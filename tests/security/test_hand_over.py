"""A hand-over waits for acceptance (decision 0131): what others do meanwhile, and all at once."""

from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest
from tests.security.people.accounts import disable
from tests.security.people.admin_calls import accept, address, ask, confirm, invited
from tests.support.error_body import assert_error
from tests.support.mailbox import latest_link, mails, subjects
from tests.support.members import Member, new_member, set_password
from tests.support.people.operators import Operator, new_operator
from tests.support.service import PASSWORD, Service


@pytest.fixture(scope="module")
def staff(service: Service) -> Operator:
    return new_operator(service, "members")


def admins(member: Member) -> list[str]:
    return [
        one["email"] for one in ask(member, "list").json()["admins"] if "invited" not in str(one)
    ]


def second_admin(member: Member) -> Member:
    email = address()
    return accept(member, invited(member, email), email)


def handed(member: Member, email: str) -> str:
    """Hand over and return the link."""
    answer = ask(member, "handover", email=email)
    assert answer.status_code == 200, answer.text
    return latest_link(member.service, email)


def test_the_role_moves_at_the_acceptance_and_all_are_informed(service: Service) -> None:
    member, email = new_member(service), address()
    other = second_admin(member)
    answer = ask(member, "handover", email=email, name="Ravi Iyer").json()
    link, headers = latest_link(service, email), member.bearer()
    *_, invited = answer["admins"]
    assert (invited["email"], invited["takesOverFrom"]) == (email, member.email)
    assert invited["invitedUntil"] > invited["since"]
    assert not answer["warnings"]
    assert member.read(headers).status_code == 200
    assert f"{member.email} hands over to you" in mails(service, email)[-1]["text"]
    assert subjects(service, other.email)[-1] == "an admin hands over"

    new = accept(member, link, email)

    assert member.read(headers).status_code == 401
    assert new.read().status_code == 200
    assert admins(new) == [other.email, email]
    for one in (member.email, other.email, email):
        assert f"{email} took over from {member.email}" in subjects(service, one)[-1]
    auditor = new_operator(service, "audit")
    events = auditor.get("/audit", entityId=member.entity_id, limit="20").json()["events"]
    changes = [one["detail"]["change"] for one in events if "change" in one["detail"]]
    assert {"hand-over-invited", "admin-added", "admin-removed"} <= set(changes)


def test_who_has_an_account_takes_over_by_consent_and_only_once(service: Service) -> None:
    member, other = new_member(service), new_member(service)
    link = handed(member, other.email)
    assert "hands over that role" in httpx2.get(link).text
    with ThreadPoolExecutor(4) as threads:
        codes = sorted(
            one.status_code for one in threads.map(lambda _: confirm(member, link), range(4))
        )
    assert codes.count(200) == 1
    assert set(codes) <= {200, 401, 503}
    assert member.read().status_code == 401
    assert Member(service, member.entity_id, other.email, PASSWORD, other.client).read().is_success


def test_an_invitation_that_expires_leaves_all_as_it_was(service: Service) -> None:
    member, email = new_member(service), address()
    link = handed(member, email)
    service.advance("PT24H1S")

    assert set_password(service.client(), link).status_code == 401
    assert admins(member) == [member.email]
    assert [one["email"] for one in ask(member, "list").json()["admins"]] == [member.email]


def test_the_one_who_leaves_withdraws_it_until_it_is_accepted(service: Service) -> None:
    member, email = new_member(service), address()
    link = handed(member, email)
    assert ask(member, "remove", email=email).status_code == 200

    refused = set_password(service.client(), link)
    assert refused.status_code == 401
    assert "withdrawn" in refused.json()["errorMsg"]
    assert "This invitation was withdrawn" in httpx2.get(link).text
    assert member.read().status_code == 200


def test_a_second_hand_over_takes_the_place_of_the_first(service: Service) -> None:
    member, first, second = new_member(service), address(), address()
    link = handed(member, first)
    later = handed(member, second)

    assert set_password(service.client(), link).status_code == 401
    assert admins(accept(member, later, second)) == [second]


def test_two_hand_overs_at_once_leave_one(service: Service) -> None:
    member, emails = new_member(service), [address(), address()]
    with ThreadPoolExecutor(2) as threads:
        answers = list(threads.map(lambda email: ask(member, "handover", email=email), emails))

    assert {one.status_code for one in answers} == {200}
    waiting = [one for one in ask(member, "list").json()["admins"] if one.get("takesOverFrom")]
    assert len(waiting) == 1


@pytest.mark.parametrize("end", ["removed", "removed by an operator", "disabled"])
def test_it_ends_when_the_one_who_leaves_has_no_role_any_more(
    service: Service, staff: Operator, end: str
) -> None:
    """Else the one who was thrown out would still choose an admin."""
    member, email = new_member(service), address()
    other = second_admin(member)
    link = handed(member, email)
    if end == "disabled":
        service.cli("admin", "disable", member.email)
        service.cli("admin", "enable", member.email)
    elif end == "removed":
        assert ask(other, "remove", email=member.email).status_code == 200
    else:
        gone = {"entityId": member.entity_id, "email": member.email}
        assert staff.post("/members/admins/remove", **gone).status_code == 200

    assert set_password(service.client(), link).status_code == 401
    assert email not in [one["email"] for one in ask(other, "list").json()["admins"]]


@pytest.mark.parametrize("path", ["add", "handover"])
@pytest.mark.parametrize("end", ["removed", "removed by an operator", "replaced"])
def test_who_is_removed_does_not_come_back_by_an_earlier_invitation(
    service: Service, staff: Operator, path: str, end: str
) -> None:
    """An operator adds directly whom an admin has invited: the link still waits in the mailbox."""
    member, email = new_member(service), address()
    assert ask(member, path, email=email).status_code == 200
    earlier = latest_link(service, email)
    body = {"entityId": member.entity_id}
    assert staff.post("/members/admins/add", **body, email=email).status_code == 200
    if end == "removed":
        gone = ask(member, "remove", email=email)
    elif end == "replaced":
        gone = staff.post("/members/admins/handover", **body, leaving=email, email=address())
    else:
        gone = staff.post("/members/admins/remove", **body, email=email)
    assert gone.status_code == 200

    assert set_password(service.client(), earlier).status_code == 401
    assert email not in [one["email"] for one in ask(member, "list").json()["admins"]]
    assert member.read().status_code == 200


def test_who_handed_over_does_not_come_back_by_an_earlier_invitation(
    service: Service, staff: Operator
) -> None:
    member, email, third = new_member(service), address(), address()
    assert ask(member, "add", email=email).status_code == 200
    earlier = latest_link(service, email)
    added = staff.post("/members/admins/add", entityId=member.entity_id, email=email)
    assert added.status_code == 200
    client = service.client()
    assert set_password(client, latest_link(service, email)).status_code == 200
    leaving = Member(service, member.entity_id, email, PASSWORD, client)
    accept(leaving, handed(leaving, third), third)

    assert confirm(leaving, earlier).status_code == 401
    assert admins(member) == [member.email, third]


def test_the_last_admin_who_hands_over_is_the_last_until_then(service: Service) -> None:
    member, email = new_member(service), address()
    handed(member, email)

    assert ask(member, "remove", email=member.email).status_code == 409
    assert member.read().status_code == 200


def test_an_accomplice_invited_meanwhile_does_not_come_after_the_acceptance(
    service: Service,
) -> None:
    member, email, accomplice = new_member(service), address(), address()
    link = handed(member, email)
    assert ask(member, "add", email=accomplice).status_code == 200
    new = accept(member, link, email)

    assert set_password(service.client(), latest_link(service, accomplice)).status_code == 401
    assert admins(new) == [email]


def test_an_operators_account_does_not_take_over_and_no_one_loses(service: Service) -> None:
    member, operator = new_member(service), new_operator(service, "keys")
    link = handed(member, operator.email)

    assert confirm(member, link).status_code == 409
    assert member.read().status_code == 200


def test_a_suspended_member_hands_over_all_the_same(service: Service, staff: Operator) -> None:
    member, email = new_member(service), address()
    link = handed(member, email)
    path = f"/members/{member.entity_id}/status"
    assert staff.post(path, status="suspended", reason="a test").status_code == 200

    assert admins(accept(member, link, email)) == [email]


def test_an_operators_replacement_of_another_admin_does_not_wait(
    service: Service, staff: Operator
) -> None:
    member, email = new_member(service), address()
    answer = staff.post(
        "/members/admins/handover", entityId=member.entity_id, leaving=member.email, email=email
    )
    assert [one["email"] for one in answer.json()["admins"]] == [email]
    assert member.read().status_code == 401


def test_only_one_of_two_takes_the_same_accept(service: Service) -> None:
    member, email = new_member(service), address()
    other = second_admin(member)
    link = handed(member, email)

    assert_error(ask(other, "handover", email=email), 400, "InvalidRequest")
    assert_error(ask(other, "invite-again", email=email), 400, "InvalidRequest")
    assert ask(other, "add", email=email).status_code == 200  # invited already: nothing changes
    assert admins(accept(member, link, email)) == [other.email, email]


@pytest.mark.parametrize("whose", ["own", "another admin's"])
def test_a_role_is_not_handed_to_an_admin(service: Service, whose: str) -> None:
    member = new_member(service)
    email = member.email if whose == "own" else second_admin(member).email

    assert_error(ask(member, "handover", email=email), 400, "InvalidRequest")
    assert member.read().status_code == 200


def test_the_answer_does_not_say_whether_the_person_exists(service: Service) -> None:
    stranger, active, disabled = address(), new_member(service).email, new_member(service).email
    disable(service, disabled)
    operator = new_operator(service, "keys").email

    seen = set()
    for email in (stranger, active, disabled, operator):
        answer = ask(new_member(service), "handover", email=email, name="Ravi Iyer")
        *_, last = answer.json()["admins"]
        seen.add((answer.status_code, last["name"], last["state"], frozenset(last)))
    assert len(seen) == 1


def test_an_invitation_is_sent_again_with_a_new_link(service: Service) -> None:
    member, email = new_member(service), address()
    earlier = handed(member, email)
    assert ask(member, "invite-again", email=address()).status_code == 404

    again = ask(member, "invite-again", email=email)

    assert again.json()["admins"][-1]["takesOverFrom"] == member.email
    assert set_password(service.client(), earlier).status_code == 401
    assert "A newer link was sent" in httpx2.get(earlier).text
    assert admins(accept(member, latest_link(service, email), email)) == [email]
