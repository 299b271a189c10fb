"""An admin who would enumerate or spam strangers by invitations."""

import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import httpx2
import psycopg
import pytest
from tests.security.people.accounts import disable, enable
from tests.security.people.admin_calls import address, ask, confirm, decline
from tests.support.database.lock_holder import lock_holder
from tests.support.error_body import assert_error
from tests.support.mailbox import latest_link, mails
from tests.support.members import Member, new_member, set_password
from tests.support.people.operators import Operator, new_operator
from tests.support.people.second_factor import user_id
from tests.support.service import PASSWORD, Service

from mudra.identity.accounts.email_address import NameRefused
from mudra.identity.memberships.invitation import invited_name
from mudra.storage.database.embedded.server import embedded_server

LOCK = "SELECT FROM entity WHERE entity_id = %s FOR UPDATE"
DISABLE = "UPDATE user_account SET state = 'disabled' WHERE email = %s"


@pytest.fixture(scope="module")
def resident(service: Service) -> Member:
    """One whose refused invitations leave it as it was."""
    return new_member(service)


def as_seen(answer: httpx2.Response, email: str) -> object:
    """All that the inviter sees, without what differs in any two answers."""
    text = answer.text.replace(email, "EMAIL")
    text = re.sub(r'"(timestamp|txnId|userId|since|invitedUntil)":"[^"]*"', "", text)
    return answer.status_code, sorted(answer.headers), text


def test_an_invitation_never_says_whether_the_person_exists(service: Service) -> None:
    """A stranger, an active admin of another member, a disabled one and an operator alike."""
    stranger, active, disabled = address(), new_member(service), new_member(service)
    disable(service, disabled.email)
    operator = new_operator(service, "keys")
    subjects = []

    seen = set()
    for email in (stranger, active.email, disabled.email, operator.email):
        member = new_member(service)
        answer = ask(member, "add", email=email, name="Ravi Iyer")
        text = as_seen(answer, email)
        seen.add(repr(text).replace(member.entity_id, "ENTITY").replace(member.email, "OWN"))
        subjects.append(mails(service, email)[-1]["subject"])

    assert len(seen) == 1
    assert len(set(subjects)) == 1


def test_an_invited_person_consents_before_being_an_admin(service: Service) -> None:
    member, other = new_member(service), new_member(service)
    assert ask(member, "add", email=other.email).status_code == 200
    both = Member(service, member.entity_id, other.email, PASSWORD, other.client)
    assert both.read().status_code == 401
    link = latest_link(service, other.email)
    page = httpx2.get(link)
    assert member.entity_id in page.text
    assert set_password(other.client, link, "granite otter velvet moon").status_code == 401

    assert confirm(member, latest_link(service, other.email)).status_code == 200
    assert confirm(member, latest_link(service, other.email)).status_code == 401

    assert both.read().status_code == 200
    assert other.read().status_code == 200


def test_who_accepts_waits_for_a_change_of_the_admins_and_holds_nothing_of_it(
    service: Service,
) -> None:
    """Else each of the two could hold what the other waits for."""
    member, other = new_member(service), new_member(service)
    ask(member, "add", email=other.email)
    link = latest_link(service, other.email)
    free = "SELECT FROM admin_invitation WHERE entity_id = %s FOR UPDATE NOWAIT"

    with lock_holder(service) as holder:
        holder.session.execute(LOCK, [member.entity_id])
        accepted = holder.begin(lambda: confirm(member, link))
        assert not accepted.done()
        holder.session.execute(free, [member.entity_id])
        holder.session.rollback()
        assert accepted.result().status_code == 200


def test_a_person_without_an_account_consents_by_setting_a_password(service: Service) -> None:
    member, email = new_member(service), address()
    added = ask(member, "add", email=email, name="Ravi Iyer")
    assert added.json()["admins"][-1]["state"] == "invited"
    operator = new_operator(service, "members")
    assert operator.get("/users", words=email).json()["users"] == []
    assert (
        confirm(member, latest_link(service, email)).status_code == 401
    )  # no account without a password

    assert set_password(service.client(), latest_link(service, email)).status_code == 200
    new = Member(service, member.entity_id, email, PASSWORD, service.client())
    assert new.read().status_code == 200


def test_an_operators_account_does_not_become_an_admin_by_consent(service: Service) -> None:
    member, operator = new_member(service), new_operator(service, "keys")
    ask(member, "add", email=operator.email)

    assert confirm(member, latest_link(service, operator.email)).status_code == 409


@pytest.mark.parametrize(
    "name",
    [
        "You won! Call 98100 12345",
        "see https://evil.example",
        "visit evil.example",
        "see t.me",
        "www.evil",
        "<b>Ravi</b>",
        "Ravi\r\nBcc: x@evil.example",
        "a" * 65,
        "ravi@evil.example",
        "[win](x)",
        ". . .",
    ],
)
def test_an_invitation_carries_no_text(resident: Member, name: str) -> None:
    email = address()
    answer = ask(resident, "add", email=email, name=name)

    assert_error(answer, 400, "InvalidRequest")
    assert not mails(resident.service, email)


@pytest.mark.parametrize(
    "name", ["", "Asha Rao", "A.K. Rao", "Dr. Anne-Marie O'Neill", "அருண் குமார்", "a" * 64]
)
def test_names_of_people_are_taken(name: str) -> None:
    assert not isinstance(invited_name(name), NameRefused)


def test_an_entity_sends_ten_invitations_a_day_also_at_once(service: Service) -> None:
    member = new_member(service)
    headers = member.bearer()
    with ThreadPoolExecutor(15) as threads:
        answers = list(
            threads.map(lambda _: ask(member, "add", headers, email=address()), range(15))
        )
    codes = Counter(answer.status_code for answer in answers)
    assert set(codes) <= {200, 429, 503}
    while codes[200] < 10:  # those who found the service busy come again
        codes[ask(member, "add", headers, email=address()).status_code] += 1

    assert codes[200] == 10
    assert_error(
        ask(member, "add", headers, email=address()), 429, "TooManyAttempts", "Retry-After"
    )
    assert ask(member, "handover", headers, email=address()).status_code == 429
    service.advance("PT24H1S")
    assert ask(member, "add", email=address()).status_code == 200


def test_the_other_admins_are_notified(service: Service) -> None:
    member, email = new_member(service), address()
    ask(member, "add", email=email)

    message = mails(service, member.email)[-1]
    assert "a new admin was invited" in message["subject"]
    assert email in message["text"]


def test_an_invitation_ends_with_its_inviters_role_or_when_withdrawn(service: Service) -> None:
    """Permitted acts combined: invite an accomplice, who comes when the inviter is gone."""
    member, second = new_member(service), address()
    ask(member, "add", email=second)
    assert set_password(service.client(), latest_link(service, second)).status_code == 200
    fired = Member(service, member.entity_id, second, PASSWORD, service.client())
    accomplice, other = address(), address()
    ask(fired, "add", email=accomplice)
    ask(member, "add", email=other)

    assert ask(member, "remove", email=second).status_code == 200
    withdrawn = ask(member, "remove", email=other)

    assert [one["email"] for one in withdrawn.json()["admins"]] == [member.email]
    for email in (accomplice, other):
        assert set_password(service.client(), latest_link(service, email)).status_code == 401


@pytest.mark.parametrize("end", ["disabled", "handed over"])
def test_an_invitation_ends_when_its_inviter_is_disabled_or_leaves(
    service: Service, end: str
) -> None:
    """Permitted acts combined: the successor comes, and no accomplice with the successor."""
    member, accomplice, successor = new_member(service), address(), address()
    ask(member, "add", email=accomplice)
    if end == "disabled":
        disable(service, member.email)
        enable(service, member.email)
    else:
        assert ask(member, "handover", email=successor).status_code == 200
        link = latest_link(service, successor)
        assert set_password(service.client(), link).status_code == 200

    assert set_password(service.client(), latest_link(service, accomplice)).status_code == 401


def test_an_invitation_under_way_ends_with_its_inviter_who_is_disabled(service: Service) -> None:
    """It waits for the member, as several at once do, while an operator disables who sends it."""
    member, accomplice = new_member(service), address()
    chief, headers = new_operator(service, "members"), member.bearer()
    who = user_id(service, member.email)

    with lock_holder(service) as holder:
        holder.session.execute(LOCK, [member.entity_id])
        added = holder.begin(lambda: ask(member, "add", headers, email=accomplice))
        disabled = holder.begin(lambda: chief.post(f"/users/{who}/disable"), waiting=2)
        holder.session.rollback()
        assert disabled.result().status_code == 200
        assert added.result().status_code in {200, 401}

    assert chief.post(f"/users/{who}/enable").status_code == 200
    for sent in mails(service, accomplice):
        assert set_password(service.client(), sent["links"][0]).status_code == 401
    assert admins_of(chief, member) == [member.email]


def admins_of(operator: Operator, member: Member) -> list[str]:
    """The addresses of who administers a member."""
    (found,) = operator.get("/members", words=member.entity_id).json()["members"]
    return list(found["admins"])


def test_a_disabled_admin_invites_no_one_where_the_account_was_disabled_without_the_lock(
    service: Service,
) -> None:
    """As one does who writes into the database by hand."""
    member, accomplice = new_member(service), address()
    headers = member.bearer()

    with lock_holder(service) as holder:
        holder.session.execute(LOCK, [member.entity_id])
        added = holder.begin(lambda: ask(member, "add", headers, email=accomplice))
        holder.session.execute(DISABLE, [member.email])
        holder.session.commit()

        assert added.result().status_code == 401
    assert not mails(service, accomplice)


@pytest.mark.parametrize("has_account", [True, False])
def test_an_invitation_that_was_left_of_a_disabled_admin_is_not_accepted(
    service: Service, has_account: bool
) -> None:
    member, other = new_member(service), new_member(service)
    email = other.email if has_account else address()
    assert ask(member, "add", email=email).status_code == 200
    link = latest_link(service, email)
    with embedded_server(service.data_dir) as conninfo, psycopg.connect(conninfo) as before:
        before.execute(DISABLE, [member.email])

    answer = confirm(member, link) if has_account else set_password(service.client(), link)

    assert answer.status_code == 401
    assert "withdrawn" in answer.json()["errorMsg"]
    assert decline(member, link).status_code == 401


def test_refused_invitations_and_invented_links_are_in_the_audit(service: Service) -> None:
    member, other = new_member(service), new_member(service)
    foreign = other.client.post(
        "/v1/entity/admin/add",
        json={"entityId": member.entity_id, "email": address()},
        headers=other.bearer(),
    )
    use = other.client.get(
        "/v1/entity/secret/use", params={"entityId": member.entity_id}, headers=other.bearer()
    )
    invented = set_password(service.client(), f"{service.issuer}/activate/{'x' * 43}")
    token = {"token": "y" * 43}
    unknown = service.client().post("/v1/user/link/confirm", json=token)
    assert {one.status_code for one in (foreign, use, invented, unknown)} == {401}

    auditor = new_operator(service, "audit")

    def refused(event: str) -> list[dict[str, str]]:
        events = auditor.get("/audit", event=event, limit="20").json()["events"]
        return [one for one in events if one["outcome"] == "refused"]

    # Those without a sign-in are counted by minute and address (test_anonymous_requests.py).
    txn_ids = {one.json()["txnId"] for one in (foreign, use)}
    found = [*refused("user:account:change"), *refused("entity:secret:read")]
    assert txn_ids <= {one["txnId"] for one in found}
