"""One act on many members: shown first, then each by itself, with the reason and rights of one."""

import html
import json
import uuid
from collections.abc import Sequence

import httpx2
import pytest
from tests.support.mailbox import mails
from tests.support.members import new_member, onboard
from tests.support.people.console import Reader, reader
from tests.support.people.operators import Operator, new_operator
from tests.support.service import PASSWORD, Service

from mudra.audit.event import Caller
from mudra.bootstrap.dependencies import Dependencies
from mudra.identity.memberships.in_bulk.bulk_act import BulkResult, TooManyMembers, act_in_bulk
from mudra.identity.memberships.in_bulk.bulk_rule import BulkAct
from mudra.identity.memberships.onboard import NewMember, Onboarded, onboard_member
from mudra.identity.operators.person_rule import owner
from mudra.shared.refusal import ValueRefused

MAX_MEMBERS = 500
REQUEST_S = 20.0

PAGE = "/console/operator/bulk"
Answer = dict[str, list[dict[str, object]]]


@pytest.fixture(scope="module")
def staff(service: Service) -> Operator:
    return new_operator(service, "members", "audit")


def act(staff: Operator, what: str, ids: Sequence[str], **more: object) -> Answer:
    answer = staff.post("/members/bulk", act=what, entityIds=list(ids), **more)
    assert answer.status_code == 200, answer.text
    return answer.json()


def results(answer: Answer) -> list[object]:
    return [one["result"] for one in answer["members"]]


def status(staff: Operator, entity_id: str) -> str:
    (found,) = staff.get("/members", words=entity_id).json()["members"]
    return found["status"]


def mails_to(service: Service, *addresses: str) -> list[int]:
    return [len(mails(service, one)) for one in addresses]


def signed_in(service: Service, staff: Operator) -> Reader:
    browser = reader(service)
    browser.sign_in(staff.email)
    return browser


def sent_on(shown: httpx2.Response, name: str) -> str:
    """A hidden field of the preview."""
    return html.unescape(shown.text.split(f'name="{name}" value="')[1].split('"')[0])


def test_only_admins_who_have_not_activated_are_invited_again(
    service: Service, staff: Operator
) -> None:
    waiting, address = onboard(service)
    active = new_member(service)
    ids = [waiting, active.entity_id, "NO-SUCH", waiting]
    before = mails_to(service, address, active.email)

    planned = act(staff, "invite", ids, dryRun=True)
    unchanged = mails_to(service, address, active.email)
    done = act(staff, "invite", ids)

    assert results(planned) == ["ready", "refused", "refused"]
    assert results(done) == ["done", "refused", "refused"]
    assert unchanged == before
    assert mails_to(service, address, active.email) == [before[0] + 1, before[1]]
    assert planned["members"][0]["people"] == done["members"][0]["people"] == [address]
    why = [one["problem"] for one in done["members"]]
    assert "waits for activation" in str(why[1])
    assert why[2] == "no member has the entity ID NO-SUCH"


def test_an_admin_of_several_members_gets_one_link(service: Service, staff: Operator) -> None:
    address = f"both-{uuid.uuid4().hex[:8]}@member.example"
    ids = [onboard(service, email=address)[0] for _ in range(2)]
    before = mails_to(service, address)

    done = act(staff, "invite", ids)

    assert results(done) == ["done", "done"]
    assert mails_to(service, address) == [before[0] + 1]


def test_a_suspension_has_a_reason_and_its_first_one_stays(
    service: Service, staff: Operator
) -> None:
    one, ended = (onboard(service)[0] for _ in range(2))
    staff.post(f"/members/{ended}/status", status="retired", reason="merged")

    missing = staff.post("/members/bulk", act="suspend", entityIds=[one])
    planned = act(staff, "suspend", [one, ended], dryRun=True)
    before = status(staff, one)
    done = act(staff, "suspend", [one, ended], reason="INC-1042")
    again = act(staff, "suspend", [one], reason="another")

    assert missing.status_code == 400
    assert missing.json()["errorMsg"] == "reason must be a reason of 1 to 200 characters"
    assert (results(planned), before) == (["ready", "refused"], "active")
    assert results(done) == ["done", "refused"]
    assert (status(staff, one), status(staff, ended)) == ("suspended", "retired")
    assert results(again) == ["refused"]
    assert "suspended already" in str(again["members"][0]["problem"])
    events = staff.get("/audit", entityId=one).json()["events"]
    reasons = [entry["reason"] for entry in events if entry["event"] == "entity:status:change"]
    assert reasons == ["INC-1042"]


def test_members_not_begun_in_time_are_left(service: Service) -> None:
    ids = [onboard(service)[0] for _ in range(2)]
    seen: list[list[BulkResult]] = []

    async def late(dependencies: Dependencies) -> None:
        clock = iter([0.0, 0.0, REQUEST_S]).__next__
        by = owner(Caller("operator:tests"))
        done = await act_in_bulk(dependencies.transaction, BulkAct.SUSPEND, ids, "late", by, clock)
        assert not isinstance(done, TooManyMembers | ValueRefused)
        seen.append([one.result for one in done])

    service.in_store(late)
    assert seen == [[BulkResult.DONE, BulkResult.LEFT]]


def test_more_members_than_the_limit_are_refused(service: Service, staff: Operator) -> None:
    many = [f"NO-{number}" for number in range(MAX_MEMBERS + 1)]
    answer = staff.post("/members/bulk", act="export", entityIds=many)
    browser = signed_in(service, staff)
    ticked = {"act": "suspend", "members": " ".join(many), "reason": "x", "password": PASSWORD}

    shown = browser.act("/console/operator/members", PAGE, **ticked)
    ran = service.cli("member", "bulk", "export", *many, check=False)

    assert answer.status_code == 400
    assert answer.json()["errorMsg"] == "entityIds must be an array of 1 to 500 entity IDs"
    assert shown.status_code == 400
    assert "At most 500 members at a time, not 501" in shown.text
    assert ran.exit_code == 2


def test_ticked_members_are_suspended_on_the_page(service: Service, staff: Operator) -> None:
    one, other, unticked = (onboard(service, name="<b>Tapi</b>")[0] for _ in range(3))
    act(staff, "suspend", [other], reason="before")
    browser = signed_in(service, staff)
    lists = f"/console/operator/members?members.q={one}"
    ticked = {f"members.tick.{entity_id}": "yes" for entity_id in (one, other)}

    listed = browser.get(lists)
    shown = browser.act(lists, f"{PAGE}/check", act="suspend", which="ticked", **ticked)
    before = status(staff, one)
    sent = {"act": "suspend", "members": sent_on(shown, "members"), "reason": "INC-1042"}
    unreasoned = browser.act(lists, PAGE, **{**sent, "reason": "", "password": PASSWORD})
    done = browser.act(lists, PAGE, **sent)

    assert f'name="members.tick.{one}"' in listed.text
    assert "1 ready" in shown.text
    assert f"{other} is suspended already" in shown.text
    assert html.escape("<b>Tapi</b>") in shown.text
    assert (sent["members"], before) == (one, "active")
    assert unreasoned.status_code == 400
    assert done.status_code == 200, done.text
    assert "1 get no more tokens, on every node" in done.text
    assert [status(staff, each) for each in (one, unticked)] == ["suspended", "active"]


def test_all_that_the_filter_shows_are_chosen_beyond_a_page(
    service: Service, staff: Operator
) -> None:
    mark = uuid.uuid4().hex[:8]
    ids = many_members(service, mark, 35)
    browser = signed_in(service, staff)
    lists = f"/console/operator/members?members.q={mark}&type=FIP"
    chosen = {"which": "all", "members.q": mark, "type": "FIP"}

    listed = browser.get(lists)
    shown = browser.act(lists, f"{PAGE}/check", act="invite", **chosen)
    export = browser.act(lists, f"{PAGE}/check", act="export", **chosen)
    nothing = browser.act(lists, f"{PAGE}/check", act="invite", which="ticked")
    file = browser.act(lists, f"{PAGE}/export", members=sent_on(export, "members"))

    assert "All 35 that the filter shows" in listed.text
    assert "35 chosen" in shown.text
    assert "<p>35 people get an email with a new link" in shown.text
    assert sorted(sent_on(shown, "members").split()) == ids
    assert nothing.status_code == 400
    assert "Choose members" in nothing.text
    assert [line.split(",")[0] for line in file.text.splitlines()[1:]] == ids
    done = browser.act(lists, PAGE, act="invite", members=sent_on(shown, "members"))
    assert "Links sent to the admins of 35 members" in done.text


def many_members(service: Service, mark: str, count: int) -> list[str]:
    ids = [f"{mark}-{number:02}-FIP" for number in range(count)]

    async def run(dependencies: Dependencies) -> None:
        for one in ids:
            new = NewMember(one, "FIP", "Tapi Bank", f"ila@{one.lower()}.example")
            async with dependencies.transaction() as tx:
                made = await onboard_member(tx, new, owner(Caller("operator:tests")))
            assert isinstance(made, Onboarded), made

    service.in_store(run)
    return ids


def test_many_members_by_command(service: Service, staff: Operator) -> None:
    one, address = onboard(service)
    before = mails_to(service, address)

    unreasoned = service.cli("member", "bulk", "suspend", one, check=False)
    planned = service.cli("member", "bulk", "invite", one, "NO-SUCH", "--dry-run", check=False)
    unchanged = mails_to(service, address)
    invited = service.cli("member", "bulk", "invite", one, "--json")
    linked = mails_to(service, address)
    suspended = service.cli("member", "bulk", "suspend", one, "--reason", "INC-1042", "--json")
    exported = service.cli("member", "bulk", "export", one)
    in_json = act(staff, "export", [one])

    assert unreasoned.exit_code == 2
    assert planned.exit_code == 1
    assert "Nothing was changed" in planned.stdout
    assert unchanged == before
    assert results(json.loads(invited.stdout)) == results(json.loads(suspended.stdout)) == ["done"]
    assert linked == [before[0] + 1]
    assert mails_to(service, address) == [before[0] + 2]  # that the member is suspended
    assert status(staff, one) == "suspended"
    assert exported.stdout.splitlines()[1].startswith(one)
    assert str(in_json["csv"]).splitlines() == exported.stdout.splitlines()


def test_who_may_not_acts_on_none(service: Service) -> None:
    other = new_operator(service, "health")
    answer = other.post("/members/bulk", act="suspend", entityIds=["NO-SUCH"], reason="x")
    assert answer.status_code == 401
    assert "scope" in answer.json()["errorMsg"]
