"""A member contests a day, an incident and a line; the operator answers; figures are corrected.

Every step is in the audit, in an email and in a message to the member's webhook.
"""

import base64
import re
import uuid
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import httpx2
import pytest
from tests.http.console.stored_incidents import open_incident, prolong_incident
from tests.support.mailbox import mails
from tests.support.members import Member, new_member
from tests.support.people.console import reader
from tests.support.people.operators import Operator, new_operator
from tests.support.service import Service

from mudra.bootstrap.dependencies import Dependencies
from mudra.disputes.correction import Correction
from mudra.disputes.correction_store import corrections
from mudra.disputes.dispute_service import DisputeService
from mudra.identity.accounts.people_store import People
from mudra.jobs.dispute_jobs import pass_deadlines

PDF = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n"
INDIA = ZoneInfo("Asia/Kolkata")


@pytest.fixture(scope="module")
def bank(service: Service) -> Member:
    return new_member(service, "FIP", name="Tapti Bank")


@pytest.fixture(scope="module")
def noc(service: Service) -> Operator:
    return new_operator(service, "health")


def own(member: Member, path: str = "", **sent: object) -> httpx2.Response:
    """A call of the member's admin: a POST where something is sent."""
    address, headers = f"/v1/entity/disputes{path}", member.bearer()
    if sent:
        return member.client.post(address, json=sent, headers=headers)
    return member.client.get(address, headers=headers)


def test_a_refused_token_of_the_wrong_kind_names_the_one_that_is_taken(bank: Member) -> None:
    token = bank.entity_token(bank.secret()).json()["accessToken"]
    query = {"entityId": bank.entity_id}
    listed = bank.client.get(
        "/v1/entity/disputes", params=query, headers={"Authorization": f"Bearer {token}"}
    )
    health = bank.client.get(f"{bank.service.root}/metrics/perf/v1/health", headers=bank.bearer())
    pushed = bank.client.post(
        f"{bank.service.root}/metrics/perf/v1/push",
        json={},
        headers={"Authorization": f"Bearer {token}"},
    )
    forged = bank.client.get(
        "/v1/entity/disputes",
        params=query,
        headers={"Authorization": f"Bearer {token[:-8]}AAAAAAAA"},
    )

    assert {one.status_code for one in (listed, health, pushed, forged)} == {401}
    assert listed.json()["errorMsg"].endswith("another kind: this call takes a User Access Token")
    assert health.json()["errorMsg"].endswith("this call takes an Entity Access Token")
    assert pushed.json()["errorMsg"].endswith("takes an Entity Access Token of the type AA")
    assert forged.json()["errorMsg"] == "the token in Authorization is not valid here"


def day(member: Member, ago: int) -> str:
    now = datetime.fromtimestamp(member.service.wall(), INDIA)
    return (now - timedelta(days=ago)).date().isoformat()


def contest(member: Member, ago: int, **more: object) -> dict[str, Any]:
    sent = {"entityId": member.entity_id, "about": "day", "day": day(member, ago)}
    text = "Our gateway answered all calls."
    answer = own(member, "", **{**sent, "text": text, **more})
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert isinstance(found, dict)
    return found


def acts(answer: dict[str, Any]) -> list[str]:
    return [one["act"] for one in answer["steps"]]


def in_force(member: Member) -> tuple[Correction, ...]:
    """What service levels read."""

    async def read(dependencies: Dependencies) -> tuple[Correction, ...]:
        async with dependencies.database.transaction() as tx:
            now = await tx.now()
            found = await corrections(tx, [member.entity_id], now - timedelta(days=90), now)
            return (*found.get(member.entity_id, ()),)

    return member.service.in_store(read)


def pass_time_and_run(member: Member, by: str) -> None:
    """Move the clock, and run the job of the deadlines as it runs every ten minutes."""
    member.service.advance(by)
    member.service.in_store(lambda parts: pass_deadlines(parts.transaction))


def pass_as_another_node(member: Member, dispute_id: str) -> None:
    """Act on a deadline as a node does that found it late together with the one that was first."""

    async def passing(parts: Dependencies) -> None:
        async with parts.transaction() as tx:
            now = await People(tx).now()
            await tx.service(DisputeService).pass_deadline(dispute_id, now)

    member.service.in_store(passing)


def test_a_deadline_that_passes_is_noted_once_and_an_unanswered_question_ends_the_dispute(
    bank: Member, noc: Operator
) -> None:
    which = contest(bank, 5)["dispute"]["disputeId"]
    pass_time_and_run(bank, "P4D")
    before = own(bank, f"/{which}").json()
    board = {(one["kind"], one["subject"]) for one in noc.get("/board").json()["rows"]}
    pass_time_and_run(bank, "P1DT1H")
    pass_time_and_run(bank, "PT10M")
    pass_as_another_node(bank, which)
    late = own(bank, f"/{which}").json()
    for sent in ({"act": "review"}, {"act": "ask", "text": "Which gateway?"}):
        answer = noc.post(f"/disputes/{which}/steps", **sent)
        assert answer.status_code == 200, answer.text
    pass_time_and_run(bank, "P16D")
    lapsed = own(bank, f"/{which}").json()

    assert acts(before) == ["raise"]
    assert ("dispute", which) in board  # due within two days
    assert acts(late) == ["raise", "overdue"]
    assert lapsed["dispute"]["state"] == "lapsed"
    assert acts(lapsed)[-1] == "lapse"
    for mailbox in (bank.email, noc.email):
        subjects = [one["subject"] for one in mails(bank.service, mailbox) if which in one["text"]]
        assert any("overdue" in one for one in subjects)


def test_a_contested_day_is_asked_about_accepted_and_left_out_of_the_figures(
    bank: Member, noc: Operator
) -> None:
    case = contest(bank, 3)
    which = case["dispute"]["disputeId"]
    attached = own(
        bank, f"/{which}/evidence", name="gateway.pdf", content=base64.b64encode(PDF).decode()
    ).json()["evidence"]
    asked = noc.post(f"/disputes/{which}/steps", act="ask", text="Which gateway?").json()
    answered = own(bank, f"/{which}/steps", act="inform", text="The one in Mumbai.").json()
    decided = noc.post(
        f"/disputes/{which}/steps", act="accept", text="The AA's path was down.", effect="left_out"
    ).json()

    assert (case["dispute"]["state"], case["dispute"]["waitsFor"]) == ("raised", "operator")
    assert attached["mediaType"] == "application/pdf"
    assert (asked["dispute"]["state"], asked["dispute"]["waitsFor"]) == (
        *("information_wanted", "member"),
    )
    assert answered["dispute"]["state"] == "under_review"
    assert (decided["dispute"]["state"], decided["dispute"]["dueAt"]) == ("accepted", None)
    assert acts(decided) == ["raise", "attach", "ask", "inform", "accept"]
    (one,) = in_force(bank)
    assert one.end - one.start == timedelta(days=1)
    assert one.start.astimezone(INDIA).isoformat()[:16] == f"{day(bank, 3)}T00:00"
    assert (one.api, one.effect, one.reason) == (None, "left_out", "The AA's path was down.")
    content = own(bank, f"/{which}/evidence/{attached['evidenceId']}").json()["content"]
    assert base64.b64decode(content) == PDF


def test_each_step_is_emailed_to_both_sides_and_audited(bank: Member, noc: Operator) -> None:
    which = contest(bank, 4)["dispute"]["disputeId"]
    noc.post(f"/disputes/{which}/steps", act="reject", text="The calls failed at your gateway.")

    own_mails = [one for one in mails(bank.service, bank.email) if which in one["text"]]
    operators = [one for one in mails(bank.service, noc.email) if which in one["text"]]
    events = bank.client.get(
        "/v1/entity/activity", params={"entityId": bank.entity_id}, headers=bank.bearer()
    ).json()["events"]

    assert [one["subject"] for one in own_mails] == [
        "Tapti Bank disputes a figure",
        "Tapti Bank: dispute rejected",
    ]
    assert "Text: The calls failed at your gateway." in own_mails[1]["text"]
    assert len(operators) == 1  # an operator gets none of its own steps
    assert [one["event"] for one in events[:2]] == ["dispute:case:decide", "dispute:case:raise"]


def test_a_part_is_accepted_and_a_reopened_dispute_has_no_correction_in_force(
    service: Service, noc: Operator
) -> None:
    bank = new_member(service, "FIP")
    case = contest(bank, 5)["dispute"]
    which, start = case["disputeId"], datetime.fromisoformat(case["start"])
    part = {"start": start.isoformat(), "end": (start + timedelta(hours=2)).isoformat()}
    wide = {**part, "end": (start + timedelta(days=2)).isoformat()}
    accept = {"act": "accept_partly", "text": "Two hours of it.", "apis": ["fif", "fireq"]}
    effect = {"effect": "not_against_member"}

    too_wide = noc.post(f"/disputes/{which}/steps", **accept, **wide)
    noc.post(f"/disputes/{which}/steps", **accept, **effect, **part)
    made = in_force(bank)
    reopened = noc.post(f"/disputes/{which}/steps", act="reopen", text="A new log came.").json()

    assert (too_wide.status_code, "a part of what is contested" in too_wide.text) == (400, True)
    assert [(one.api, one.end - one.start, one.effect) for one in made] == [
        ("fif", timedelta(hours=2), "not_against_member"),
        ("fireq", timedelta(hours=2), "not_against_member"),
    ]
    assert (reopened["dispute"]["state"], reopened["corrections"]) == ("under_review", [])
    assert in_force(bank) == ()


def test_an_own_incident_is_contested_and_another_s_is_unknown(
    service: Service, bank: Member
) -> None:
    mine, other = open_incident(service, bank.entity_id), open_incident(service, "NARMADA-FIP")
    sent = {"entityId": bank.entity_id, "about": "incident", "text": "It was the AA."}

    admin, page = reader(service), f"/console/entity/{bank.entity_id}"
    assert admin.sign_in(bank.email).status_code == 303

    offered = admin.get(f"{page}/disputes").text
    before = admin.get(f"{page}/health/incidents/{mine}").text
    answer = own(bank, **sent, incidentId=mine)
    again = own(bank, **sent, incidentId=mine)
    after = admin.get(f"{page}/health/incidents/{mine}").text

    operators = reader(service)
    operators.sign_in(new_operator(service, "health").email)
    listed = operators.get("/console/operator/disputes").text
    assert re.search(r"Tapti Bank: [^<]*failing</a>\s*<p>", listed)
    assert re.search(r'<span class="next">\d+ days left</span>', listed)
    assert (f'<option value="{mine}"' in offered, other in offered) == (True, False)
    assert ("Dispute this incident" in before, "Your dispute of this" in before) == (True, False)
    assert ("Dispute this incident" in after, "Your dispute of this" in after) == (False, True)
    assert answer.json()["dispute"]["incidentId"] == mine
    assert (again.status_code, "is about the same and is open" in again.text) == (409, True)
    assert own(bank, **sent, incidentId=other).status_code == 404
    assert own(bank, **sent, incidentId=str(uuid.uuid4())).status_code == 404


def test_the_figures_of_an_incident_that_went_on_have_their_own_end(
    service: Service, bank: Member
) -> None:
    incident_id = open_incident(service, bank.entity_id, timedelta(hours=3))
    sent = {"entityId": bank.entity_id, "about": "incident", "text": "Not us."}
    case = own(bank, **sent, incidentId=incident_id).json()["dispute"]
    operators = reader(service)
    operators.sign_in(new_operator(service, "health").email)
    path, says = f"/console/operator/disputes/{case['disputeId']}", "They are of the whole incident"

    before = operators.get(path).text
    prolong_incident(service, incident_id, datetime.fromisoformat(case["end"]))
    after = operators.get(path).text

    assert "calls failed in 10 bad windows" in before
    assert (says in before, says in after) == (False, True)


def test_another_member_and_an_operator_of_another_scope_see_nothing(
    service: Service, bank: Member
) -> None:
    which = contest(bank, 6)["dispute"]["disputeId"]
    stranger, auditor = new_member(service, "FIP"), new_operator(service, "audit")
    step = {"act": "withdraw", "text": ""}

    assert own(stranger, f"/{which}").status_code == 404
    assert own(stranger, f"/{which}/steps", **step).status_code == 404
    assert own(stranger, entityId=bank.entity_id, about="day", text="x").status_code == 401
    assert auditor.get(f"/disputes/{which}").status_code == 401
    assert own(bank, f"/{which}/steps", **step).json()["dispute"]["state"] == "withdrawn"


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("page.html.exe", b"MZ\x90\x00\x03", "content must be PDF"),
        ("../../etc/passwd", b"root", "name must be a file name"),
        ("large.log", b"x" * (2 * 1024 * 1024 + 1), "bytes"),
        ("picture.svg", b"\x00<svg>", "content must be PDF"),
    ],
)
def test_a_file_that_is_no_evidence_is_refused(
    bank: Member, name: str, content: bytes, why: str
) -> None:
    which = own(bank, f"?entityId={bank.entity_id}").json()["disputes"][0]["disputeId"]
    sent = base64.b64encode(content).decode()

    answer = own(bank, f"/{which}/evidence", name=name, content=sent)

    assert answer.status_code == 400
    assert why in answer.json()["errorMsg"]


def test_what_the_specification_of_a_dispute_does_not_allow_is_refused(bank: Member) -> None:
    base = {"entityId": bank.entity_id, "text": "x"}
    wrong = [
        ({"about": "day", "day": day(bank, 0)}, "must be a day that is over"),
        ({"about": "day", "day": day(bank, 80)}, "can no longer be contested"),
        ({"about": "day", "day": "2026-02-30"}, "must be a day such as"),
        ({"about": "day"}, "day is missing"),
        ({"about": "line", "firstDay": day(bank, 5), "api": "xyz"}, "api must be"),
        ({"about": "line", "firstDay": day(bank, 5), "lastDay": day(bank, 6)}, "lastDay"),
        ({"about": "day", "day": day(bank, 9), "text": "\u202e"}, "text must be"),
    ]
    for sent, why in wrong:
        answer = own(bank, **(base | sent))
        assert answer.status_code == 400, answer.text
        assert why in answer.json()["errorMsg"]


def test_a_member_has_ten_open_disputes_at_most(service: Service) -> None:
    bank = new_member(service, "FIP")
    for ago in range(2, 12):
        contest(bank, ago)

    over = own(bank, entityId=bank.entity_id, about="day", day=day(bank, 13), text="x")
    comment = contest(bank, 13, kind="comment")

    assert (over.status_code, "10 disputes" in over.text) == (409, True)
    assert (comment["dispute"]["state"], comment["dispute"]["waitsFor"]) == ("noted", None)


def test_a_fiu_comments_on_an_incident_and_has_no_figure_to_contest(service: Service) -> None:
    fiu, fip = new_member(service, "FIU"), new_member(service, "FIP")
    incident_id = open_incident(service, fip.entity_id)
    browser, page = reader(service), f"/console/entity/{fiu.entity_id}/disputes"
    assert browser.sign_in(fiu.email).status_code == 303

    shown = browser.get(f"{page}?about=incident&incident_id={incident_id}").text
    assert "there is no figure about" in shown
    assert 'id="about"' not in shown
    assert f'value="{incident_id}" selected' in shown
    said = {"kind": "comment", "about": "incident", "incident_id": incident_id, "text": "Ours too."}
    assert browser.act(page, page, **said).status_code == 303
    listed = browser.get(page).text
    assert 0 < listed.index('id="listed"') < listed.index('id="raise"')
