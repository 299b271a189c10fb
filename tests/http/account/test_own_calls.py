"""What the console shows an admin is had over the API and by command too."""

import json
import re
from typing import Any

import httpx2
import pytest
from tests.support.mailbox import latest_link
from tests.support.members import Member, new_member, set_password
from tests.support.metrics.metrics_push import PushingAa
from tests.support.people.console import Reader, reader
from tests.support.people.operators import Operator, new_operator
from tests.support.service import Service

from mudra.metrics.payload.catalogue import REQUEST_COUNT_NAMES

PHONE = "+91 80 4000 1234"


@pytest.fixture(scope="module")
def resident(service: Service) -> Member:
    return new_member(service)


def shown(member: Member, *words: str) -> object:
    """What a command says as JSON, to one who is signed in."""
    service = member.service
    service.cli("login", member.email, "--password-stdin", stdin=member.password)
    return json.loads(service.cli(*words, "--json").stdout)


def counted(row: dict[str, Any]) -> tuple[object, ...]:
    """The exact figures of a row; percentiles are estimates, which sums by hour may sharpen."""
    names = ("type", "status", "requests", "succeeded", "judged", "errors")
    apis = [[api[name] for name in names] for api in row["apis"]]
    return row["aaId"], row["fipId"], apis


def signed_in(member: Member) -> Reader:
    """A browser of the member's admin."""
    visitor = reader(member.service)
    assert visitor.sign_in(member.email, member.password).status_code == 303
    return visitor


def test_the_attention_list_is_the_same_on_the_page_in_the_api_and_by_command(
    resident: Member,
) -> None:
    page = signed_in(resident).get(f"/console/entity/{resident.entity_id}").text
    answer = resident.client.get(
        "/v1/entity/attention", params={"entityId": resident.entity_id}, headers=resident.bearer()
    ).json()

    assert {line["page"] for line in answer["lines"]} == {"try", "registration", "people"}
    assert [line["weight"] for line in answer["lines"]] == ["soon", "soon", "good-to-know"]
    assert all(line["what"] in page and line["why"] in page for line in answer["lines"])
    assert shown(resident, "entity", "attention", resident.entity_id) == answer["lines"]


def test_activity_counts_tokens_by_day_and_pages_the_audit(resident: Member) -> None:
    service, entity_id = resident.service, resident.entity_id
    assert resident.entity_token(resident.secret()).status_code == 200
    assert resident.entity_token("wrong").status_code == 401

    def activity(**query: str) -> dict[str, object]:
        answer = resident.client.get(
            "/v1/entity/activity",
            params={"entityId": entity_id, **query},
            headers=resident.bearer(),
        )
        assert answer.status_code == 200, answer.text
        found = answer.json()
        assert isinstance(found, dict)
        return found

    def counted() -> bool:  # written behind
        days = activity()["days"]
        assert isinstance(days, list)
        return sum(day["issued"] for day in days) == sum(day["refused"] for day in days) == 1

    service.wait_until(counted)
    first = activity(limit="2")
    rest = activity(after=str(first["next"]), limit="1000")
    everything = activity(limit="1000")

    assert first["events"] + rest["events"] == everything["events"]
    assert "next" not in everything
    by_command = shown(resident, "entity", "activity", entity_id, "--limit", "1000")
    assert by_command["days"] == everything["days"]
    assert by_command["events"][-3:] == everything["events"][-3:]
    onboarded = next(e for e in everything["events"] if e["event"] == "entity:member:onboard")
    assert onboarded["who"].startswith("operator:")
    assert onboarded["address"] == ""
    assert any(event["who"] == resident.email for event in everything["events"])


def test_a_session_is_listed_and_ended_from_elsewhere(resident: Member) -> None:
    lost = signed_in(resident)
    mine = signed_in(resident)
    listed = shown(resident, "session", "list")
    address = f"/console/entity/{resident.entity_id}"
    newest = listed[0]["sessionId"]

    assert shown(resident, "session", "end", newest)["status"] == "ended"
    assert mine.get(address).status_code == 303  # the newest is the one that began last
    assert lost.get(address).status_code == 200
    assert shown(resident, "session", "end", newest)["status"] == "nothing to end"


def test_the_account_page_ends_other_sessions_and_tokens(resident: Member) -> None:
    token = resident.bearer()
    assert resident.read(token).status_code == 200
    lost = signed_in(resident)
    lost_id = shown(resident, "session", "list")[0]["sessionId"]
    mine = signed_in(resident)
    listed = resident.client.get("/v1/user/token/list", headers=token).json()["tokens"]
    used = next(one["jti"] for one in listed if "lastUsedAt" in one and one["state"] == "valid")
    page = mine.get("/console/account").text

    assert "this browser" in page
    assert used in page
    out = mine.act("/console/account", "/console/account/session", session=lost_id)
    assert out.headers["location"].endswith("told=session")
    assert lost.get("/console/account").status_code == 303
    ended = mine.act("/console/account", "/console/account/token", jti=used)
    assert ended.headers["location"].endswith("told=token")
    assert used not in mine.get("/console/account").text
    again = mine.act("/console/account", "/console/account/token", jti=used)
    assert again.headers["location"].endswith("told=nothing")


def test_no_one_ends_a_session_of_somebody_else(resident: Member, member: Member) -> None:
    mine = signed_in(resident)
    mine_id = shown(resident, "session", "list")[0]["sessionId"]
    stranger = signed_in(member)

    answer = stranger.act("/console/account", "/console/account/session", session=mine_id)
    over_the_api = member.client.post(
        "/v1/user/session/end", json={"sessionId": mine_id}, headers=member.bearer()
    )

    assert answer.headers["location"].endswith("told=nothing")
    assert over_the_api.json()["status"] == "nothing to end"
    assert mine.get("/console/account").status_code == 200


def test_an_aa_sees_its_fips_by_command_as_in_the_api(service: Service) -> None:
    own = new_member(service, "AA")
    token = own.entity_token(own.secret()).json()["accessToken"]
    aa = PushingAa(service, own.entity_id, token, own.client)
    assert aa.push(aa.requests()).status_code == 200
    service.advance("PT30M")

    day = shown(own, "entity", "health", aa.aa_id)
    week = shown(own, "entity", "health", aa.aa_id, "--days", "7")
    table = service.cli("entity", "health", aa.aa_id).stdout

    assert {row["aaId"] for row in day["rows"]} == {aa.aa_id}
    # Times of a week come from sums of days, whose bounds are wider than those of one window.
    assert counted(day["rows"][0]) == counted(week["rows"][0])
    assert "SUCCESS" in table
    assert re.search(r"^received \d+ of \d+ reports$", table, re.MULTILINE)
    (funnel,) = shown(own, "entity", "funnel", aa.aa_id)["funnels"]
    asked = [one for one in day["rows"][0]["apis"] if one["type"] == "adisc"]
    assert funnel["steps"][0]["begun"] >= asked[0]["requests"] > 0
    assert "discovery" in service.cli("entity", "funnel", aa.aa_id, "weeks", "--days", "7").stdout
    assert "LOWER QUARTILE" in service.cli("entity", "compare", aa.aa_id).stdout
    assert "No forecast" in service.cli("entity", "volume", aa.aa_id).stdout
    gaps = shown(own, "entity", "reports", aa.aa_id)
    assert gaps["aaId"] == aa.aa_id
    assert gaps["receipts"]
    assert "GAP FROM" in service.cli("entity", "reports", aa.aa_id).stdout  # one tag of two came
    assert service.cli("entity", "reports", "NO-SUCH-AA", check=False).exit_code == 1


def test_an_admin_looks_after_people_by_command(service: Service) -> None:
    own = new_member(service)
    other = f"ravi-{own.entity_id.lower()}@member.example"

    added = shown(own, "entity", "add-admin", own.entity_id, other, "--name", "Ravi Nair")
    assert {one["email"] for one in added["admins"]} == {own.email, other}
    shown(own, "entity", "contact", own.entity_id, "", "--phone", PHONE)
    contact = shown(own, "entity", "contact", own.entity_id, other)
    assert (contact["contact"], contact["phone"]) == (other, PHONE)
    contact = shown(own, "entity", "contact", own.entity_id, other, "--phone", "")
    assert (contact["contact"], contact["phone"]) == (other, "")
    removed = shown(own, "entity", "remove-admin", own.entity_id, other)
    assert [one["email"] for one in removed["admins"]] == [own.email]
    assert own.email in service.cli("entity", "admins", own.entity_id).stdout
    shown(own, "entity", "contact", own.entity_id, "")
    over = shown(own, "entity", "hand-over", own.entity_id, other)
    assert [one["email"] for one in over["admins"]] == [own.email, other]
    table = service.cli("entity", "admins", own.entity_id).stdout
    assert f"takes over from {own.email}" in " ".join(table.split())
    shown(own, "entity", "invite-again", own.entity_id, other)
    assert set_password(service.client(), latest_link(service, other)).status_code == 200
    gone = service.cli("entity", "admins", own.entity_id, check=False)
    assert gone.exit_code == 1


def test_an_operator_has_pictures_and_matrix_by_command_as_in_the_api(service: Service) -> None:
    own, noc = new_member(service, "AA"), new_operator(service, "health")
    token = own.entity_token(own.secret()).json()["accessToken"]
    aa = PushingAa(service, own.entity_id, token, own.client)
    assert aa.push(aa.requests(fips=1)).status_code == 200
    service.advance("PT10M")

    seen = json.loads(service.cli("health", "picture", "pairs", "--aa", aa.aa_id, "--json").stdout)
    asked = {"from": seen["from"], "to": seen["to"]}
    rows = noc.get("/health/pairs", aaId=aa.aa_id, **asked).json()["rows"]
    assert [counted(row) for row in seen["rows"]] == [counted(row) for row in rows]
    assert seen["rows"][0].keys() == rows[0].keys()
    span = ("--from", seen["from"], "--to", seen["to"])
    shown = service.cli("health", "picture", "pairs", "--aa", aa.aa_id, "--json", *span).stdout
    again = json.loads(shown)
    assert (again["from"], again["to"]) == (seen["from"], seen["to"])
    assert [counted(row) for row in again["rows"]] == [counted(row) for row in rows]
    late = service.cli("health", "matrix", "--from", "2026-01-31T09:30", check=False)
    assert (late.exit_code, "--from must be an ISO 8601 instant" in late.stderr) == (2, True)
    long = service.cli("health", "picture", "--from", "2020-01-01T00:00:00Z", check=False)
    assert (long.exit_code, "by at most 400 days" in long.stderr) == (2, True)
    assert aa.aa_id in service.cli("health", "picture", "aas", "--csv").stdout
    matrix = json.loads(service.cli("health", "matrix", "--last", "PT1H", "--json").stdout)
    cells = noc.get("/health/matrix", **{"from": matrix["from"], "to": matrix["to"]}).json()
    assert matrix["cells"] == cells["cells"]
    assert "CAUSE" in service.cli("health", "matrix").stdout
    words_come_first(noc, aa.aa_id)
    counts_come_last(noc, aa.aa_id, seen["rows"][0]["fipId"])
    for wrong in (["picture", "banks"], ["picture", "--last", "PT1S"], ["matrix", "--type", "x"]):
        assert service.cli("health", *wrong, check=False).exit_code == 2


def words_come_first(noc: Operator, aa_id: str) -> None:
    """A page says in words how things stand; charts and their table are a part of its own."""
    staff = Reader(noc.client, noc.root)
    staff.sign_in(noc.email)
    path = f"/console/operator/health/aa/{aa_id}"
    page, part = staff.get(path).text, staff.get(f"{path}?over-time=part").text
    assert "calls succeeded" in page
    assert 'hx-trigger="load"' in page
    assert "data-figures" not in page
    assert "data-figures" in part
    assert "<html" not in part
    for whole in ("over-time=shown", "moments.sort=success"):
        assert "data-figures" in staff.get(f"{path}?{whole}").text
    assert staff.get(f"{path}?export=moments").text.startswith("\ufeffFrom,Success %")


def counts_come_last(noc: Operator, aa_id: str, fip_id: str) -> None:
    """The fifteen counts of a pair are a part of their own, and of no one else."""
    staff = Reader(noc.client, noc.root)
    staff.sign_in(noc.email)
    path = f"/console/operator/health/pair/{aa_id}/{fip_id}"
    page, part = staff.get(path).text, staff.get(f"{path}?as-reported=part").text
    assert ">As reported</h2>" in page
    assert 'id="counts"' not in page
    assert 'id="counts"' in part
    assert "<html" not in part
    assert "as-reported=part" not in part, "its links lead to the page"
    for whole in ("as-reported=shown", "counts.sort=type"):
        assert 'id="counts"' in staff.get(f"{path}?{whole}").text
    rows = staff.get(f"{path}?export=counts").text.splitlines()
    assert rows[0].count(",") == len(REQUEST_COUNT_NAMES), "the file holds all fifteen"
    assert len(rows) > 1
    of_all = staff.get(f"/console/operator/health/aa/{aa_id}?as-reported=part").text
    assert ">As reported</h2>" not in of_all


def test_operators_have_mailbox_and_time_machine_in_their_console(
    service: Service, resident: Member
) -> None:
    operator = new_operator(service, "health")
    staff = reader(service)
    staff.sign_in(operator.email)
    page = staff.get("/console/operator/sandbox")

    assert page.status_code == 200
    assert latest_link(service, operator.email) in page.text
    assert "Time machine" in page.text
    assert signed_in(resident).get("/console/operator/sandbox").status_code == 403
    assert reader(service).get("/console/operator/sandbox").status_code == 303
    over_the_api = httpx2.get(
        f"{service.root}/sandbox/v1/mails", params={"to": operator.email}
    ).json()["mails"]
    assert over_the_api == shown(resident, "mail", "list", "--to", operator.email)
    assert over_the_api[0]["links"] == [latest_link(service, operator.email)]
    unread = httpx2.get(f"{service.root}/sandbox/v1/mails?limit=0")
    assert (unread.status_code, "limit" in unread.json()["errorMsg"]) == (400, True)
    moved = json.loads(service.cli("sandbox", "advance", "PT1S", "--json").stdout)
    assert set(moved) >= {"now", "txnId"}
    refused = service.cli("sandbox", "advance", "tomorrow", check=False)
    assert refused.exit_code == 1
    assert "advance" in refused.stderr
