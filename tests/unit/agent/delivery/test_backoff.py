"""When to send what, and what an answer means."""

import random

import pytest
from tests.support.manual_clock import SECOND, START, WINDOW

from mudra.agent.delivery.backoff import (
    MAX_LENGTH,
    MIN_LENGTH,
    Delivered,
    NotNow,
    Refused,
    TokenRefused,
    choose,
    judge,
    pause,
    retry_after,
)
from mudra.agent.spool.spool import QueuedPayload

GOOD = b'{"status":"accepted","receiptId":"r-1"}'


def _waiting(number: int, window: int, due: int = 0) -> QueuedPayload:
    return QueuedPayload(number, window, "req-fipMetrics-aa", f"t{number}", due)


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
        (400, b"why", Refused), (403, b"", Refused), (404, b"", Refused), (409, b"", Refused), (422, b"", Refused),
        (500, b"", NotNow), (503, b"", NotNow), (599, b"", NotNow),
    ],
)  # fmt: skip
def test_every_answer_has_its_meaning(status: int, body: bytes, kind: type) -> None:
    assert isinstance(judge(status, {}, body, START), kind)


@pytest.mark.parametrize(
    ("told", "wait"),
    [
        ("7", 7 * SECOND), ("0", 0), ("", None), ("soon", None), ("-5", None), ("99999999999", 3_600 * SECOND),
        ("Wed, 01 Apr 2026 10:01:00 GMT", 60 * SECOND), ("Wed, 01 Apr 2026 09:00:00 GMT", 0),
    ],
)  # fmt: skip
def test_retry_after_is_read_as_seconds_or_date(told: str, wait: int | None) -> None:
    assert retry_after({"retry-after": told}, START) == wait


def test_waits_grow_with_full_jitter_from_one_second_to_five_minutes() -> None:
    chance = random.Random(1)
    waits = {
        failures: [pause(failures, None, chance.uniform) for _ in range(300)]
        for failures in (1, 4, 9, 60)
    }

    assert all(MIN_LENGTH <= wait <= MAX_LENGTH for some in waits.values() for wait in some)
    assert max(waits[1]) <= 2 * SECOND
    assert 10 * SECOND < max(waits[4]) <= 16 * SECOND
    assert max(waits[60]) > 0.9 * MAX_LENGTH
    assert min(waits[60]) < 0.1 * MAX_LENGTH


def test_a_wait_that_was_asked_for_is_never_shortened() -> None:
    assert all(pause(1, 40 * SECOND, random.Random(n).uniform) >= 40 * SECOND for n in range(50))


def test_the_live_window_goes_first_then_the_oldest() -> None:
    queued = [_waiting(1, START - 9 * WINDOW), _waiting(2, START - 5 * WINDOW), _waiting(3, START)]
    now = START + WINDOW + 40 * SECOND

    assert choose(queued, now, ()) == queued[2]
    assert choose(queued[:2], now, ()) == queued[0]
    assert choose(queued, now, {3, 1}) == queued[1]


def test_nothing_goes_before_it_is_due() -> None:
    assert choose([_waiting(1, START, due=START + 5)], START + 4, ()) is None
