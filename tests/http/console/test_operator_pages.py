"""The operators' pages over HTTP: who sees what, acts by form, headers and forgery."""

import csv
import io
import json
import re
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest
import sqlalchemy as sa
from litestar import Router
from litestar.routes import HTTPRoute
from tests.support.members import Member, new_member, onboard
from tests.support.people.console import Reader, reader
from tests.support.people.operators import Operator, new_operator
from tests.support.registry.registry_commands import payload, send
from tests.support.service import Service
from tools.demonstration import member_pages, operator_pages

from mudra.bootstrap.dependencies import Dependencies
from mudra.console.framework.navigation import OPERATOR_ITEMS, operator_path
from mudra.console.routes import console_pages
from mudra.http.server.given import Given
from mudra.metrics.payload.catalogue import window_start
from mudra.storage.tables.audit import audit_event

SCOPES = ("members", "registry", "health", "keys", "audit")
_EXPORT = re.compile(r'<a (?:class="export" )?href="(\?[^"]*export=[^"]*)"')
OPEN = {"/console/sign-in", "/console/forgot-password", "/console/sign-in/forgot"}


def routes(method: str) -> list[str]:
    """The console's paths that take a method, with names of nothing in their places."""
    pages = console_pages(Given())
    router = Router("/", route_handlers=[pages])
    return sorted(
        "/".join(map(of_nothing, route.path.split("/")))
        for route in router.routes
        if isinstance(route, HTTPRoute) and method in route.methods
    )


def of_nothing(part: str) -> str:
    """Give a name of nothing where a path has a place for one."""
    if not part.startswith("{"):
        return part
    return "00000000-0000-4000-8000-000000000000" if part.endswith(":uuid}") else "NOTHING"


@pytest.fixture(scope="module")
def operators(service: Service) -> dict[str, Operator]:
    return {
        "all": new_operator(service, *SCOPES),
        "noc": new_operator(service, "health"),
        "members": new_operator(service, "members"),
    }


@pytest.fixture
def boss(service: Service, operators: dict[str, Operator]) -> Reader:
    return signed_in(service, operators["all"])


def signed_in(service: Service, operator: Operator) -> Reader:
    browser = reader(service)
    assert browser.sign_in(operator.email).status_code == 303
    return browser


def test_every_page_of_the_console_carries_the_headers_of_safety(boss: Reader) -> None:
    """I10: no exception, whether a page is shown, refused or moved."""
    paths = routes("GET")
    assert len(paths) >= 14
    for path in paths:
        answer = boss.get(path)
        assert answer.status_code < 500, f"{path}: {answer.text}"
        assert answer.headers["cache-control"] == "no-store", path
        assert answer.headers["x-content-type-options"] == "nosniff", path
        if answer.headers.get("content-type", "").startswith("text/html") and answer.text:
            policy = answer.headers["content-security-policy"]
            assert "frame-ancestors 'none'" in policy, path
            assert "unsafe" not in policy, path
            assert answer.headers["x-frame-options"] == "DENY", path
            assert "style=" not in answer.text, path
            assert "<script>" not in answer.text, path


@pytest.mark.parametrize("sender", [{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "none"}])
def test_no_form_of_the_console_is_taken_from_another_site(
    boss: Reader, sender: dict[str, str]
) -> None:
    """I10: every POST of the route table, with the session's own word."""
    word = boss.word(operator_path("board"))
    for path in routes("POST"):
        answer = boss.post(path, {"csrf_token": word}, **sender)
        # Not 400: that would be a form that was taken and found incomplete.
        assert answer.status_code == 403, f"{path}: {answer.status_code}"
    assert boss.get(operator_path("board")).status_code == 200


def test_no_form_is_taken_without_the_word_of_the_session(boss: Reader) -> None:
    """I10: the second lock, for browsers that do not say where a form comes from."""
    for path in routes("POST"):
        if path.startswith("/console/operator"):
            assert boss.post(path, {"csrf_token": "guessed"}).status_code == 403, path


def test_the_noc_sees_the_board_and_no_page_of_members(
    service: Service, operators: dict[str, Operator]
) -> None:
    """X1: a page opens by the scope of its row in the menu, and by no other."""
    noc = signed_in(service, operators["noc"])

    board = noc.get(operator_path("board"))
    assert "Not shown to you: Expiring secrets" in board.text
    assert operator_path("members") not in board.text
    for item in OPERATOR_ITEMS:
        expected = 200 if item.scope in {None, "health"} else 403
        assert noc.get(operator_path(item.word)).status_code == expected, item.word


def test_a_members_admin_sees_no_page_of_operators(service: Service) -> None:
    admin = new_member(service)
    browser = reader(service)
    browser.sign_in(admin.email)

    for item in OPERATOR_ITEMS:
        assert browser.get(operator_path(item.word)).status_code == 403, item.word


def test_a_scope_that_is_taken_closes_the_page_at_the_next_click(
    service: Service, operators: dict[str, Operator], boss: Reader
) -> None:
    """X3: the session lives on, the right does not."""
    other = new_operator(service, "keys", "audit")
    browser = signed_in(service, other)
    keys, people = operator_path("keys"), operator_path("people")
    assert browser.get(keys).status_code == 200

    changed = boss.act(people, people, email=other.email, audit="on")

    assert changed.status_code == 303, changed.text
    assert browser.get(keys).status_code == 403
    assert browser.get(operator_path("audit")).status_code == 200


def test_an_operator_onboards_suspends_and_restores_a_member(
    service: Service, boss: Reader, operators: dict[str, Operator]
) -> None:
    (entity_id, _), form = onboard(service), operator_path("onboard")
    fields = {"entityId": f"{entity_id}-2", "type": "FIU", "name": "Tungabhadra Lending"}
    refused = boss.act(form, form, **fields, adminEmail="nobody")
    assert refused.status_code == 400
    assert "Tungabhadra Lending" in refused.text  # what was typed is not lost
    made = boss.act(form, form, **fields, adminEmail=f"i-{entity_id.lower()}@member.example")
    page = made.headers["location"].partition("?")[0]
    assert "invited by email" in boss.get(made.headers["location"]).text

    assert boss.act(page, f"{page}/status", status="suspended").status_code == 400
    boss.act(page, f"{page}/status", status="suspended", reason="key has leaked")
    why = r"Suspended since <time[^>]*>[^<]*</time>: key has leaked\.</p>(?s:.*)This member gets no"
    assert re.search(why, boss.get(page).text)
    boss.act(page, f"{page}/status", status="active", reason="new key")

    assert "This member gets tokens." in boss.get(page).text
    events = operators["all"].get("/audit", event="entity:status:change", limit="2").json()
    assert [one["actor"] for one in events["events"]] == [f"operator:{operators['all'].email}"] * 2
    assert [one["reason"] for one in events["events"]] == ["new key", "key has leaked"]


def test_a_member_whose_entry_is_suspended_is_led_to_the_entry(
    service: Service, boss: Reader, operators: dict[str, Operator]
) -> None:
    """Restoring the member would be refused (decision 0009): the page offers what helps."""
    member = new_member(service)
    send(member, payload(member))
    entry, page = (operator_path(f"{w}/{member.entity_id}") for w in ("approvals", "members"))
    assert boss.act(entry, entry, act="approve", version="1").status_code == 303
    boss.act(entry, entry, act="suspend", reason="key has leaked")

    shown = boss.get(page).text
    assert "This member gets no tokens because its registry entry is suspended." in shown
    assert f'<a href="{entry}">Restore the entry</a>' in shown
    assert 'value="active"' not in shown
    staff = signed_in(service, operators["members"]).get(page).text
    assert "An operator with the scope registry can restore the entry." in staff
    boss.act(entry, entry, act="restore")
    assert "This member gets tokens." in boss.get(page).text


def test_what_was_typed_is_given_back_when_the_session_ended_meanwhile(boss: Reader) -> None:
    form, typed = operator_path("onboard"), {"name": "Tapti <Bank>", "password": "never shown"}
    word = boss.word(form)
    boss.act(form, "/console/sign-out")
    fields = {"csrf_token": word, "entityId": "TAPTI-FIP", **typed}

    answer = boss.post(form, fields)
    assert answer.status_code == 403
    assert "nothing was changed" in answer.text
    assert ">TAPTI-FIP</textarea>" in answer.text
    assert ">Tapti &lt;Bank&gt;</textarea>" in answer.text
    assert f'name="to" value="{form}"' in answer.text  # who signs in goes on there
    assert "never shown" not in answer.text
    assert word not in answer.text
    # Another site shows nothing of its own in our page.
    elsewhere = boss.post(form, fields, **{"Sec-Fetch-Site": "cross-site"})
    assert (elsewhere.status_code, "TAPTI" in elsewhere.text) == (303, False)
    # Where nothing was typed, the word that nothing was changed is enough.
    approved = boss.post(form, {"csrf_token": word, "act": "approve", "version": "1"})
    assert "nothing was changed" in boss.get(approved.headers["location"]).text


def test_a_refused_form_gives_back_what_was_typed(boss: Reader) -> None:
    page, silences = operator_path("incidents"), operator_path("silences")
    reason = "planned work until four"

    unknown = boss.act(page, silences, entity_id="NOBODY-HERE", hours="4", reason=reason)
    stale = boss.post(silences, {"csrf_token": "of-before", "hours": "4", "reason": reason})

    assert (unknown.status_code, stale.status_code) == (404, 403)
    assert f">{reason}</textarea>" in stale.text
    assert (f'value="{reason}"' in unknown.text, 'value="NOBODY-HERE"' in unknown.text) == (
        True,
        True,
    )
    for begins in ("yesterday", "9999-12-31T23:59"):
        late = boss.act(page, silences, begins=begins, hours="720", reason=reason)
        assert (late.status_code, f'value="{begins}"' in late.text) == (400, True)


def test_a_silence_starts_when_it_was_planned(service: Service, boss: Reader) -> None:
    page, bank = operator_path("incidents"), new_member(service, "FIP").entity_id
    now = re.search(r'As of\s+<time datetime="([^"]+)"', boss.get(operator_path("board")).text)
    assert now is not None, "the clock of the service may have been moved"
    begins = datetime.fromisoformat(now[1]) + timedelta(days=2)

    planned = boss.act(
        page, operator_path("silences"), entity_id=bank, hours="4", reason="new disks",
        begins=begins.strftime("%Y-%m-%dT%H:%M"), zone="UTC", maintenance="yes",
    )  # fmt: skip

    assert planned.status_code == 303
    row = boss.get(page).text.partition(f"Planned maintenance: {bank}")
    assert "scheduled" in row[0][-200:]
    assert begins.strftime("%Y-%m-%dT%H:%M:00Z") in row[2][:200]


def test_the_secret_is_on_no_page_of_operators(service: Service, boss: Reader) -> None:
    member = new_member(service)
    secret = member.secret()
    assert member.entity_token(secret).status_code == 200

    page = operator_path(f"members/{member.entity_id}")
    service.wait_until(lambda: "1 in 30 days" in boss.get(page).text)

    assert secret not in boss.get(page).text
    assert "expires" in boss.get(page).text.lower()


def test_a_version_that_moved_is_not_approved_by_accident(service: Service, boss: Reader) -> None:
    member = new_member(service)
    made = payload(member)
    send(member, made)
    page = operator_path(f"approvals/{member.entity_id}")
    assert "First registration" in (first := boss.get(page).text)
    assert "category: STRONG, type: MOBILE" in first  # not what Python writes
    boss.act(page, page, act="approve", version="1")
    changed = made["entityinfo"] | {"baseurl": "v2:https://one.example/v2"}
    send(member, made | {"entityinfo": changed, "txnid": fresh(member)}, update=True)
    changed = made["entityinfo"] | {"baseurl": "v2:https://two.example/v2"}
    send(member, made | {"entityinfo": changed, "txnid": fresh(member)}, update=True)

    stale = boss.act(page, page, act="approve", version="2")

    assert stale.status_code == 409
    assert "https://two.example/v2" in stale.text
    assert boss.act(page, page, act="approve", version="3").status_code == 303


def fresh(member: Member) -> str:
    txnid = payload(member)["txnid"]
    assert isinstance(txnid, str)
    return txnid


def test_a_key_is_dropped_only_after_its_kind_was_typed(boss: Reader) -> None:
    keys, rotate = operator_path("keys"), operator_path("keys/rotate")

    refused = boss.act(keys, rotate, kind="entity", emergency="true", typed="yes")

    assert refused.status_code == 400
    assert "type the word entity" in refused.text
    assert boss.act(keys, rotate, kind="user").status_code == 303


def test_tables_export_what_the_filter_shows(service: Service, boss: Reader) -> None:
    entity_id, _ = onboard(service)

    csv = boss.get(operator_path(f"members?members.q={entity_id}&export=members"))

    assert csv.headers["content-type"].startswith("text/csv")
    assert [line.split(",")[1] for line in csv.text.splitlines()] == ["Entity", entity_id]


@pytest.mark.slow
def test_every_table_of_the_console_gives_its_rows_as_csv(service: Service, boss: Reader) -> None:
    """Whatever a page shows as a table it also exports: the link is followed, on every page."""
    aa, fip = new_member(service, "AA"), new_member(service, "FIP")
    send(fip, payload(fip))
    own = {member.entity_id: reader(service) for member in (aa, fip)}
    for member in (aa, fip):
        assert own[member.entity_id].sign_in(member.email).status_code == 303
        member.entity_token(member.secret())
    pages = [(boss, page) for page in operator_pages("", aa.entity_id, fip.entity_id, "")]
    pages += [(own[m.entity_id], p) for m in (aa, fip) for p in member_pages(m.entity_id, m.email)]
    followed = set()
    for browser, page in pages:
        for link in _EXPORT.findall(browser.get(page.path).text):
            answer = browser.get(f"{page.path.partition('?')[0]}{unescape(link)}")
            assert answer.headers["content-type"].startswith("text/csv"), (page.path, link)
            followed.add(page.name)
    assert {
        *("operator-members", "operator-settings", "operator-audit", "operator-mails"),
        *("operator-approvals", "operator-member", "aa-activity", "fip-registration"),
    } <= followed


def test_the_audit_is_searched_and_verified_on_its_page(service: Service, boss: Reader) -> None:
    member = new_member(service)
    member.secret()
    found = boss.get(operator_path(f"audit?entity={member.entity_id}&event=entity:secret:*"))

    assert "entity:secret:read" in found.text
    assert "entity:member:onboard" not in found.text.partition("<tbody>")[2]
    assert boss.get(operator_path("audit?since=yesterday")).status_code == 400
    verdict = boss.act(operator_path("audit"), operator_path("audit/verify"))
    assert "The audit is untouched" in verdict.text


def test_an_actor_is_found_by_the_address_that_the_audit_shows(
    service: Service, boss: Reader, operators: dict[str, Operator]
) -> None:
    """A person acts under two names: `user:ID` sets a password, `operator:ADDRESS` decides."""
    other = new_operator(service, "members", "audit")
    form = operator_path("onboard")
    browser = signed_in(service, other)
    entity_id, _ = onboard(service)
    address = f"admin-of-{entity_id.lower()}@member.example"
    made = {"entityId": f"{entity_id}-X", "type": "FIU", "name": "X", "adminEmail": address}
    assert browser.act(form, form, **made).status_code == 303

    by_page = boss.get(operator_path(f"audit?actor={other.email.upper()}&export=events")).text
    rows = list(csv.DictReader(io.StringIO(by_page.removeprefix("\ufeff"))))
    assert {"user:password:set", "entity:member:onboard"} <= {row["Event"] for row in rows}
    assert {row["Actor"] for row in rows} == {other.email}  # one name for one person
    by_call = operators["all"].get("/audit", actor=other.email, limit="200").json()["events"]
    words = ("--actor", other.email, "--since", "2020-01-01", "--event", "entity:member:*")
    by_command = json.loads(service.cli("audit", "list", "--json", *words).stdout)
    assert [one["event"] for one in by_call] == [row["Event"] for row in rows]
    assert [one["event"] for one in by_command] == ["entity:member:onboard"]
    none = service.cli("audit", "list", "--json", *words, "--until", "2020-01-02").stdout
    assert json.loads(none) == []


def test_the_file_of_the_audit_holds_all_or_says_that_it_would_not(
    service: Service, boss: Reader
) -> None:
    member = new_member(service).entity_id

    async def fill(dependencies: Dependencies) -> None:
        row = {
            **dict.fromkeys(("actor", "address", "txn_id", "reason"), ""),
            "event": "entity:secret:read",
            "outcome": "success",
            "entity_id": member,
            "detail": {},
        }
        async with dependencies.database.transaction() as transaction:
            many = [{**row, "at": await transaction.now()}] * 1500
            await transaction.connection.execute(sa.insert(audit_event), many)

    service.in_store(fill)
    page = operator_path(f"audit?entity={member}&event=entity:secret:read")
    assert "1,000 rows" in boss.get(f"{page}&each=yes").text
    assert len(boss.get(f"{page}&export=events").text.splitlines()) == 1501


def test_a_time_that_was_chosen_is_shown_in_the_zone_of_its_reader(boss: Reader) -> None:
    """As every time of the page: a `time` element, which the script writes in that zone."""
    end = window_start(datetime.now(UTC)) - timedelta(hours=1)
    start = end - timedelta(minutes=10)
    asked = f"from={start:%Y-%m-%dT%H:%M:%SZ}&to={end:%Y-%m-%dT%H:%M:%SZ}"

    shown = boss.get(operator_path(f"health?{asked}")).text.partition("</summary>")[0]

    picker = shown.rpartition("<summary>")[2]
    assert [f"{at:%Y-%m-%dT%H:%M:%SZ}" for at in (start, end)] == re.findall(
        r'<time datetime="([^"]+)" title="', picker
    )
