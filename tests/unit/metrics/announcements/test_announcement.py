"""What may be announced, for how long, and where it is shown."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from msgspec.structs import replace

from mudra.metrics.announcements.announcement import (
    Announcement,
    AnnouncementCommand,
    Kind,
    State,
    Translation,
    changed_announcement,
    new_announcement,
)
from mudra.shared.refusal import ValueRefused

MAX_INSTITUTIONS = 20
MAX_TEXT = 600
MAX_TITLE = 120

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
FAR = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
"""In India this is no date."""
PUBLIC = {f"BANK-{number}" for number in range(30)}
SAID = AnnouncementCommand(Kind.INFORMATION, "Title", "Text.")
HINDI = Translation("hi", "शीर्षक", "पाठ।")


def made(**changes: object) -> Announcement:
    one = new_announcement(replace(SAID, **changes), "1", "operator:1", NOW, PUBLIC)
    assert isinstance(one, Announcement)
    return one


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("title", " \n "),
        ("title", "t" * (MAX_TITLE + 1)),
        ("title", "=?utf-8?q?x?="),
        ("text", ""),
        ("text", "t" * (MAX_TEXT + 1)),
        ("text", "a\x00b"),
        ("text", "right to left \u202e"),
        ("translations", (HINDI, HINDI)),
        ("translations", (Translation("hi", "शीर्षक", ""),)),
        ("translations", (Translation("no tag", "t", "t"),)),
        ("translations", tuple(Translation(f"a{c}", "t", "t") for c in "abcdefghijk")),
        ("fip_ids", ("NO-BANK",)),
        ("fip_ids", tuple(sorted(PUBLIC))[: MAX_INSTITUTIONS + 1]),
        ("publish_at", NOW + timedelta(days=367)),
        ("ends", NOW),
        ("ends", FAR),
        ("begins", FAR),
        ("begins", datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=5, minutes=30)))),
    ],
)
def test_what_is_not_allowed_is_refused_by_its_field(field: str, value: object) -> None:
    wire = {"fip_ids": "fipIds", "publish_at": "publishAt"}.get(field, field)

    refused = new_announcement(replace(SAID, **{field: value}), "1", "operator:1", NOW, PUBLIC)

    assert isinstance(refused, ValueRefused)
    assert refused.field.startswith(wire)


@pytest.mark.parametrize(
    "times",
    [
        {"begins": NOW + 2 * HOUR, "ends": NOW + HOUR},
        {"publish_at": NOW + HOUR, "ends": NOW + HOUR},
    ],
)
def test_it_does_not_end_before_it_begins_or_is_published(times: dict[str, datetime]) -> None:
    refused = new_announcement(replace(SAID, **times), "1", "operator:1", NOW, PUBLIC)

    assert isinstance(refused, ValueRefused)
    assert refused.field == "ends"


@pytest.mark.parametrize("field", ["begins", "ends"])
def test_a_change_is_bound_by_the_same_times(field: str) -> None:
    refused = changed_announcement(made(), replace(SAID, **{field: FAR}), NOW, PUBLIC)

    assert isinstance(refused, ValueRefused)
    assert refused.field == field


def test_its_text_is_one_paragraph_and_empty_translations_are_left_out() -> None:
    one = made(
        title=" A  title ",
        text="One.\r\n\r\nTwo.",
        translations=(Translation("ta", " ", ""), HINDI),
    )

    assert (one.title, one.text, one.translations) == ("A title", "One. Two.", (HINDI,))
    assert one.in_language("hi") == HINDI
    assert one.in_language("ta") == Translation("en", "A title", "One. Two.")


def test_it_is_scheduled_then_current_then_over() -> None:
    one = made(publish_at=NOW + HOUR, ends=NOW + 2 * HOUR)

    assert [one.state(NOW + number * HOUR) for number in range(3)] == [
        State.SCHEDULED,
        State.CURRENT,
        State.OVER,
    ]
    assert made().state(NOW + timedelta(days=400)) is State.CURRENT
    assert replace(one, ended_at=NOW).was_withdrawn
    assert not replace(one, ended_at=NOW + HOUR + HOUR / 2).was_withdrawn


def test_what_was_published_stays_published_and_keeps_institutions_that_left() -> None:
    before = made(fip_ids=("BANK-1",))
    later = NOW + HOUR

    after = changed_announcement(
        before, replace(SAID, fip_ids=("BANK-1",), publish_at=NOW + 9 * HOUR), later, set()
    )
    moved = changed_announcement(
        made(publish_at=NOW + 3 * HOUR), replace(SAID, publish_at=NOW + 9 * HOUR), later, PUBLIC
    )

    assert isinstance(after, Announcement)
    assert isinstance(moved, Announcement)
    assert (after.publish_at, after.changed_at) == (NOW, later)
    assert moved.publish_at == NOW + 9 * HOUR
