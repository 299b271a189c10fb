"""When to send what, and what an answer means."""

import random

import pytest
from tests.support.manual_clock import SECOND, START, WINDOW

from mudra.agent.delivery.backoff import (
    Delivered,
    NotNow,
    Refused,
    TokenRefused,
    classify_response,
    due_at,
    next_payload,
    parse_retry_after,
    retry_delay,
)
from mudra.agent.spool.payload_files import QueuedPayload
from mudra.metrics.payload.catalogue import Tag

MAX_DELAY = 60_000
MIN_DELAY = 1_000

WRONG = b'{"errorCode":"InvalidRequest","errorMsg":"why"}'
GOOD = b'{"status":"accepted","receiptId":"r-1"}'


def _queued(window: int) -> QueuedPayload:
    return QueuedPayload(window, Tag.REQUESTS, f"t{window}", 100)


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (200, GOOD, Delivered),
        (200, b'{"status":"duplicate","receiptId":"r"}', Delivered),
        (200, b'{"status":"replaced","receiptId":"r","more":1}', Delivered),
        (200, b'{"status":"accepted","receiptId":""}', NotNow),
        (200, b'{"status":"perhaps","receiptId":"r"}', NotNow),
        (200, b"<html>", NotNow),
        (200, b"[" * 100_000, NotNow),
        (201, GOOD, NotNow), (204, b"", NotNow), (301, b"", NotNow), (307, b"", NotNow),
        (401, b"", TokenRefused),
        (408, b"", NotNow), (425, b"", NotNow), (429, b"", NotNow),
        (400, WRONG, Refused), (409, WRONG, Refused), (413, WRONG, Refused), (415, WRONG, Refused),
        (422, WRONG, Refused),
        (400, b"<html>", NotNow), (400, b'{"errorCode":""}', NotNow), (413, b"\xff", NotNow),
        (409, b'{"errorCode":"\xff"}', NotNow), (422, b"[" * 100_000, NotNow),
        (403, b"", NotNow), (403, WRONG, NotNow), (404, b"<html>", NotNow), (404, WRONG, NotNow),
        (405, WRONG, NotNow), (410, b"", NotNow),
        (500, b"", NotNow), (503, b"", NotNow), (599, b"", NotNow),
    ],
)  # fmt: skip
def test_every_answer_has_its_meaning(status: int, body: bytes, kind: type) -> None:
    assert isinstance(classify_response(status, {}, body, START), kind)


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (404, b"<html>", "the operator answered 404 without an errorCode"),
        (404, b'{"errorCode":"NotFound"}', "the operator answered 404 NotFound"),
        (503, b"", "the operator answered 503"),
        (429, b"", "the operator answered 429"),
    ],
)
def test_what_is_tried_again_names_the_answer(status: int, body: bytes, reason: str) -> None:
    assert classify_response(status, {}, body, START) == NotNow(reason)


@pytest.mark.parametrize(
    ("header", "wait"),
    [
        ("7", 7 * SECOND), ("0", 0), ("", None), ("soon", None), ("-5", None), ("99999999999", 60 * SECOND),
        ("Wed, 01 Apr 2026 10:01:00 GMT", 60 * SECOND), ("Wed, 01 Apr 2026 09:00:00 GMT", 0),
    ],
)  # fmt: skip
def test_retry_after_is_read_as_seconds_or_date(header: str, wait: int | None) -> None:
    assert parse_retry_after({"retry-after": header}, START) == wait


def test_waits_grow_with_full_jitter_from_one_second_to_a_minute() -> None:
    chance = random.Random(1)
    waits = {
        failures: [retry_delay(failures, None, chance.uniform) for _ in range(300)]
        for failures in (1, 4, 9, 60)
    }

    assert all(SECOND <= wait <= 60 * SECOND for some in waits.values() for wait in some)
    assert max(waits[1]) <= 2 * SECOND
    assert 10 * SECOND < max(waits[4]) <= 16 * SECOND
    assert max(waits[60]) > 54 * SECOND
    assert min(waits[60]) < 6 * SECOND


@pytest.mark.parametrize("asked", [40, 60])
def test_a_wait_that_was_asked_for_is_never_shortened(asked: int) -> None:
    waits = [retry_delay(1, asked * SECOND, random.Random(n).uniform) for n in range(50)]

    assert all(asked * SECOND <= wait <= 60 * SECOND for wait in waits)


def test_the_live_window_goes_first_then_the_oldest() -> None:
    oldest, older, live = (_queued(START - number * WINDOW) for number in (9, 5, 0))
    now = due_at(START, "AA-1")

    assert next_payload([oldest, older, live], now, (), "AA-1") == live
    assert next_payload([oldest, older], now, (), "AA-1") == oldest
    assert next_payload([oldest, older, live], now, {live.name, oldest.name}, "AA-1") == older


def test_nothing_goes_before_it_is_due() -> None:
    due = due_at(START, "AA-1")

    assert next_payload([_queued(START)], due - 1, (), "AA-1") is None
    assert next_payload([_queued(START)], due, (), "AA-1") is not None
