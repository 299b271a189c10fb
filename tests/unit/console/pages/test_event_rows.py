"""The audit's table: a person's call is one row, and so are a minute's events of one kind."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from mudra.audit.search import AuditRow
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

    assert texts[0] == "a@b.example began a session of the console"
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
