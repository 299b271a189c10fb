"""The audit's table: a person's call is one row, and so are a minute's events of one kind."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import pytest

from mudra.audit.search import ActedBy, AuditRow
from mudra.console.pages.operator.audit_log.event_rows import EventRow, folded

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)


def event(
    seq: int, name: str, actor: str, entity: str = "", *, txn: str = "", outcome: str = "success",
    after_s: int = 0,
) -> EventRow:  # fmt: skip
    at = AT + timedelta(seconds=after_s)
    return EventRow(
        AuditRow(seq, at, name, outcome, actor, entity, "", txn, "", {}), actor, "a@b.example",
        entity,
    )  # fmt: skip


def said(rows: Sequence[EventRow]) -> list[str]:
    return [one.what for one in folded(rows)]


def test_reports_of_a_minute_are_one_row_that_leads_to_each() -> None:
    stored = "metrics:report:accept"
    rows = [
        event(4, stored, "entity:A", "A", after_s=61),
        event(3, stored, "entity:B", "B"),
        event(2, stored, "entity:A", "A"),
        event(1, stored, "entity:A", "A"),
        event(0, stored, "entity:A", "A", outcome="failed"),
    ]

    first, many, failed = folded(rows)

    assert first.what == "A report of A was stored"
    assert many.what == "3 reports of 2 AAs were stored"
    assert list(many.entities) == ["B", "A"]
    assert "since=2026-03-01T12%3A00%3A00" in many.each
    assert "until=2026-03-01T12%3A01%3A00" in many.each
    assert "each=yes" in many.each
    assert failed.what.startswith("Failed: ")
    assert (first.each, failed.each) == ("", "")


def test_events_of_a_person_are_one_row_for_each_call() -> None:
    rows = [
        event(5, "user:session:begin", "user:1", txn="two"),
        event(4, "user:sign_in:succeed", "user:1", txn="two"),
        event(3, "entity:secret:read", "user:1", "A", txn="one"),
        event(2, "user:sign_in:refuse", "user:1", txn="zero", outcome="refused"),
        event(1, "user:sign_in:refuse", "user:1", txn="zero", outcome="refused"),
    ]

    texts = said(rows)

    assert texts[0] == "a@b.example signed in to the console"
    assert texts[1].endswith("read the secret of A")
    assert len(texts) == 4, "refused events have rows of their own"


def test_a_call_is_named_by_what_the_person_did_not_by_what_it_implies() -> None:
    rows = [
        event(3, "user:password:rehash", "user:1", txn="one"),
        event(2, "user:token:issue", "user:1", txn="one"),
        event(1, "user:sign_in:succeed", "user:1", txn="one"),
    ]

    assert said(rows) == ["a@b.example got a User Access Token"]


def test_machines_of_other_kinds_are_counted_too() -> None:
    rows = [event(n, "entity:token:issue", "entity:A", "A") for n in range(3)]

    assert said(rows) == ["A got Entity Access Tokens, and 2 more like it"]


def test_what_programs_of_people_do_all_day_is_one_row_and_what_people_decide_is_not() -> None:
    rows = [
        event(6, "user:token:issue", "user:2", txn="six"),
        event(5, "user:sign_in:succeed", "user:2", txn="six"),
        event(4, "user:token:issue", "user:1", txn="four"),
        event(3, "entity:secret:reset", "user:2", "A", txn="three"),
        event(2, "entity:secret:reset", "user:1", "B", txn="two"),
        event(1, "user:token:issue", "user:1", txn="one", after_s=-61),
    ]

    many, *others = folded(rows)

    assert many.what == "a@b.example got a User Access Token, and 1 more like it, by 2 people"
    assert list(many.actors) == ["user:2", "user:1"]
    assert "event=user%3Atoken%3Aissue" in many.each
    assert "by=people" in many.each
    assert len(others) == 3, "a reset has a row of its own, and so has another minute"


def act(
    name: str, detail: Mapping[str, object], about: str = "", title: str = "", person: str = ""
) -> EventRow:
    row = AuditRow(1, AT, name, "success", "operator:a@b.example", "ID", "", "one", "", detail)
    return EventRow(row, "a@b.example", person, about, title=title)


KAVERI = "Kaveri Bank, FI fetch"
ACKNOWLEDGE, UPDATE = "metrics:incident:acknowledge", "metrics:announcement:update"
REPORT, RULE = "levels:report:make", "levels:rule:set"
MONTH = {"start": "2026-11-01T00:00:00+00:00", "end": "2026-12-01T00:00:00+00:00"}
DAYS = {"start": "2026-11-03T10:00:00+00:00", "end": "2026-11-05T00:00:00+00:00"}


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (act(ACKNOWLEDGE, {"owner": "a@b.example"}, KAVERI), f"took the incident {KAVERI}"),
        (act(ACKNOWLEDGE, {"owner": "a@b.example"}), "took an incident"),
        (act(ACKNOWLEDGE, {"owner": "c@d.example"}, KAVERI), f"gave the incident {KAVERI} to c@d.example"),
        (act(ACKNOWLEDGE, {"owner": ""}, KAVERI), f"left the incident {KAVERI} without an owner"),
        (act(UPDATE, {"announcementId": "x"}, title="New gateway"), "added an update to the announcement “New gateway”"),
        (act(UPDATE, {"announcementId": "x"}), "added an update to an announcement"),
        (act(REPORT, MONTH, "Kaveri Bank"), "made the service level report of Kaveri Bank, November 2026"),
        (act(REPORT, DAYS, "Kaveri Bank"), "made the service level report of Kaveri Bank, 3 Nov 2026 to 4 Nov 2026"),
        (act(REPORT, {}, "Kaveri Bank"), "made a service level report of Kaveri Bank"),
        (
            act(RULE, {"since": "2026-11-03", "noticeHours": 24, "hoursAMonth": 6}),
            "set the rule of service levels from 3 Nov 2026: maintenance with 24 h of notice, at most 6 h in 30 days",
        ),
        (act("metrics:webhook:add", {}, "Kaveri Bank"), "added a webhook of Kaveri Bank"),
        (act("metrics:webhook:add", {}), "added a webhook"),
    ],
)  # fmt: skip
def test_an_act_names_what_it_was_done_to_as_far_as_that_is_known(one: EventRow, said: str) -> None:
    assert one.what == f"a@b.example {said}"


def test_only_the_thing_that_an_act_is_about_is_its_link() -> None:
    of_incident = act(ACKNOWLEDGE, {"owner": "a@b.example"}, KAVERI)
    published = act("metrics:announcement:publish", {"title": "New gateway"})

    assert of_incident.parts == ("a@b.example took the incident ", KAVERI, "")
    assert published.parts == ("a@b.example published the announcement “", "New gateway", "”")
    assert act(RULE, {}).parts == ("a@b.example set the rule of service levels", "", "")


def test_an_operator_without_an_address_is_a_program() -> None:
    actors = ("user:1", "operator:a@b.example", "operator:import", "entity:A", "system")

    found = {by: [one for one in actors if by.has(one)] for by in ActedBy}

    assert found[ActedBy.PEOPLE] == ["user:1", "operator:a@b.example"]
    assert found[ActedBy.PROGRAMS] == ["operator:import", "entity:A"]
    assert found[ActedBy.SERVICE] == ["system"]
