"""FI sessions to their outcome: over windows, out of order, more than once."""

import re
from pathlib import Path

import pytest
from tests.support.manual_clock import INBOUND, OUTBOUND, SECOND, START, WINDOW

from mudra.agent.counting.counter import Counter
from mudra.agent.counting.event import Call, FiStatus, Notification
from mudra.agent.counting.fi_session_tracker import FiSessionTracker
from mudra.agent.counting.window import Windows, WindowTally

READY, DELIVERED, DENIED = FiStatus.READY, FiStatus.DELIVERED, FiStatus.DENIED
TIMEOUT, PENDING = FiStatus.TIMEOUT, FiStatus.PENDING


def _counter(**sizes: int) -> Counter:
    return Counter(Windows(), FiSessionTracker(**sizes))


def _request(at: int, session: str = "S-1", took: int = 100, fip: str = "FIP-1") -> Call:
    return Call(OUTBOUND, fip, "fireq", START + at, at, took, 200, session=session)


def _notification(
    at: int, statuses: int, session: str = "S-1", status: int = 200, sent_at: int = -1
) -> Call:
    return Call(
        INBOUND,
        "FIP-1",
        "finot",
        START + at,
        at,
        5,
        status,
        notification=Notification(session, statuses, sent_at),
    )


def _finot(tally: WindowTally) -> tuple[int, list[int]]:
    block = tally.notifications["FIP-1", "finot"]
    assert block.statuses is not None
    return block.counts[0], block.statuses


def _longest(tally: WindowTally, code: str) -> int:
    times = tally.requests["FIP-1", code].times
    assert times is not None
    return times.longest


def test_a_session_is_timed_from_its_200_to_the_deciding_notification() -> None:
    counter = _counter()

    counter.apply([_request(1_000, took=250), _notification(5_000, READY)])
    tally = counter.close(START)

    assert _finot(tally) == (1, [1, 0, 1, 0, 0, 0, 0])
    timing = tally.requests["FIP-1", "sfireqnot"]
    assert timing.counts[:3] == [1, 1, 0]
    assert timing.times is not None
    assert timing.times.percentiles() == (3_750,) * 4
    assert ("FIP-1", "ffireqnot") not in tally.requests


def test_denied_and_timed_out_accounts_are_a_failure() -> None:
    counter = _counter()

    counter.apply([_request(0), _notification(5_000, DENIED | TIMEOUT)])
    tally = counter.close(START)

    assert _finot(tally) == (1, [0, 1, 0, 1, 0, 1, 0])
    assert tally.requests["FIP-1", "ffireqnot"].counts[:2] == [1, 1]


def test_one_ready_account_among_denied_ones_is_a_success() -> None:
    counter = _counter()

    counter.apply([_request(0), _notification(5_000, DENIED | READY)])

    assert _finot(counter.close(START)) == (1, [1, 0, 1, 1, 0, 0, 0])


def test_intermediate_notifications_are_position_seven_and_nothing_else() -> None:
    counter = _counter()

    counter.apply(
        [
            _request(0),
            _notification(1_000, PENDING | READY),
            _notification(2_000, PENDING),
            _notification(3_000, READY),
        ]
    )

    assert _finot(counter.close(START)) == (1, [1, 0, 1, 0, 0, 0, 2])


def test_only_the_last_of_several_terminal_notifications_counts() -> None:
    counter = _counter()

    counter.apply(
        [
            _request(0),
            _notification(1_000, READY),
            _notification(2_000, DELIVERED),
            _notification(3_000, DELIVERED),
        ]
    )
    tally = counter.close(START)

    assert _finot(tally) == (1, [1, 0, 0, 0, 1, 0, 0])
    timing = tally.requests["FIP-1", "sfireqnot"].times
    assert timing is not None
    assert timing.longest == 900, "the time to the first success, whatever comes later"


def test_a_notification_that_was_overtaken_by_a_later_word_does_not_replace_it() -> None:
    counter = _counter()

    counter.apply(
        [
            _request(0),
            _notification(1_000, DELIVERED, sent_at=2_000),
            _notification(2_000, READY, sent_at=1_000),
        ]
    )

    assert _finot(counter.close(START)) == (1, [1, 0, 0, 0, 1, 0, 0])
    assert counter.sessions.metrics.repeated == 1


def test_a_notification_that_comes_before_the_answer_of_its_request_counts() -> None:
    counter = _counter()

    counter.apply([_notification(50, READY), _request(0, took=100)])
    tally = counter.close(START)

    assert _finot(tally)[0] == 1
    timing = tally.requests["FIP-1", "sfireqnot"].times
    assert timing is not None
    assert timing.longest == 0


def test_the_end_is_counted_in_the_window_where_it_came() -> None:
    counter = _counter()

    counter.apply([_request(500 * SECOND), _notification(2 * WINDOW + 1_000, READY)])
    first, third = counter.close(START), counter.close(START + 2 * WINDOW)

    assert "finot" not in {code for _, code in first.notifications}
    assert _finot(third)[0] == 1
    timing = third.requests["FIP-1", "sfireqnot"].times
    assert timing is not None
    assert timing.longest == 2 * WINDOW + 1_000 - 500 * SECOND - 100


def test_a_final_notification_moves_to_the_window_of_the_later_one_while_both_are_open() -> None:
    counter = _counter()

    counter.apply(
        [_request(0), _notification(WINDOW - 1, READY), _notification(WINDOW + 1, DELIVERED)]
    )
    first, second = counter.close(START), counter.close(START + WINDOW)

    assert ("FIP-1", "finot") not in first.notifications
    assert _finot(second) == (1, [1, 0, 0, 0, 1, 0, 0])
    assert _longest(first, "sfireqnot") == WINDOW - 1 - 100, "the time to success does not move"
    assert ("FIP-1", "sfireqnot") not in second.requests


def test_the_example_of_the_reference_counts_as_it_says() -> None:
    counter = _counter()
    at = {"10:19:40": 580, "10:19:50": 590, "10:20:10": 610, "10:35:00": 1500}
    page = Path("docs/reference/metrics-payloads.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d\d:\d\d:\d\d)(?:, answered)? \| `(\w+)` \| ", page, re.MULTILINE)
    assert [row[0] for row in rows] == list(at)
    *early, late = (_notification(at[time] * SECOND, FiStatus[name]) for time, name in rows)

    counter.apply([_request(0), *early])
    first = counter.close(START)
    counter.apply([late])
    second, third = (counter.close(START + number * WINDOW) for number in (1, 2))

    assert _finot(first) == (0, [0, 0, 0, 0, 0, 0, 1])
    assert _finot(second) == (1, [1, 0, 1, 0, 0, 0, 0])
    assert second.requests["FIP-1", "sfireqnot"].counts[:2] == [1, 1]
    assert not first.requests.keys() & {("FIP-1", "sfireqnot"), ("FIP-1", "ffireqnot")}
    assert ("FIP-1", "finot") not in third.notifications


def test_a_repetition_after_the_window_closed_is_not_counted_again() -> None:
    counter = _counter()

    counter.apply([_request(0), _notification(1_000, READY)])
    counter.close(START)
    counter.apply([_notification(WINDOW + 5, READY)])

    assert ("FIP-1", "finot") not in counter.close(START + WINDOW).notifications
    assert counter.sessions.metrics.repeated == 1


def test_the_time_to_success_ends_with_the_first_ready_account() -> None:
    counter = _counter()

    counter.apply([_request(0), _notification(1_000, PENDING | READY)])
    counter.apply([_notification(WINDOW + 5_000, READY | DELIVERED)])
    first, second = counter.close(START), counter.close(START + WINDOW)

    assert _longest(first, "sfireqnot") == 900
    assert ("FIP-1", "sfireqnot") not in second.requests
    assert _finot(second) == (1, [1, 0, 1, 0, 1, 0, 0])


def test_a_delivery_after_the_window_closed_moves_no_time() -> None:
    counter = _counter()

    counter.apply([_request(0), _notification(800, READY)])
    first = counter.close(START)
    counter.apply([_notification(WINDOW + 5, DELIVERED)])
    second = counter.close(START + WINDOW)

    assert _longest(first, "sfireqnot") == 700
    assert not second.requests


@pytest.mark.parametrize("status", [200, 401, 409, 500, 503, 0])
def test_a_final_success_counts_whatever_the_aa_answered(status: int) -> None:
    counter = _counter()

    counter.apply([_request(0), _notification(1_000, READY, status=status)])
    tally = counter.close(START)

    assert _finot(tally) == (1, [1, 0, 1, 0, 0, 0, 0])
    assert _longest(tally, "sfireqnot") == 900


@pytest.mark.parametrize(("status", "failures"), [(200, 1), (0, 1), (401, 0), (409, 0), (500, 0)])
def test_a_final_failure_counts_but_is_no_outcome_when_the_aa_refused_it(
    status: int, failures: int
) -> None:
    counter = _counter()

    counter.apply([_request(0), _notification(1_000, DENIED | TIMEOUT, status=status)])
    tally = counter.close(START)

    assert _finot(tally) == (1, [0, failures, 0, 1, 0, 1, 0])
    # spec 2.5 leaves no failure out: it is timed as a success is, whatever the AA answered.
    assert tally.requests["FIP-1", "ffireqnot"].counts[:2] == [1, 1]
    assert _longest(tally, "ffireqnot") == 900


def test_a_failure_that_the_aa_refused_is_an_outcome_once_it_is_accepted() -> None:
    counter = _counter()

    counter.apply([_request(0), _notification(1_000, DENIED, status=500)])
    first = counter.close(START)
    counter.apply([_notification(WINDOW + 5, DENIED)])
    second = counter.close(START + WINDOW)

    assert _finot(first) == (1, [0, 0, 0, 1, 0, 0, 0])
    assert _longest(first, "ffireqnot") == 900
    assert _finot(second) == (1, [0, 1, 0, 1, 0, 0, 0])
    assert ("FIP-1", "ffireqnot") not in second.requests


def test_a_repetition_that_the_aa_refused_does_not_undo_the_failure_it_accepted() -> None:
    counter = _counter()

    counter.apply(
        [_request(0), _notification(1_000, DENIED), _notification(2_000, DENIED, status=409)]
    )

    assert _finot(counter.close(START)) == (1, [0, 1, 0, 1, 0, 0, 0])


@pytest.mark.parametrize("closed", [True, False], ids=["closed before", "still open"])
def test_a_success_after_a_failure_counts_in_its_own_window_and_is_reported(
    *, closed: bool
) -> None:
    counter, later = _counter(), _notification(WINDOW + 60 * SECOND, READY)

    counter.apply([_request(0), _notification(1_000, DENIED)])
    counter.apply([] if closed else [later])
    first = counter.close(START)
    counter.apply([later] if closed else [])
    second = counter.close(START + WINDOW)

    assert _finot(first) == (1, [0, 1, 0, 1, 0, 0, 0])
    assert _finot(second) == (1, [1, 0, 1, 0, 0, 0, 0])
    assert _longest(second, "sfireqnot") == WINDOW + 60 * SECOND - 100
    assert counter.sessions.drain_recovered() == [("FIP-1", "S-1")]
    assert counter.sessions.drain_recovered() == []


def test_a_second_failure_in_a_later_window_is_a_repetition() -> None:
    counter = _counter()

    counter.apply([_request(0), _notification(1_000, DENIED)])
    counter.close(START)
    counter.apply([_notification(WINDOW + 5, TIMEOUT)])

    assert ("FIP-1", "finot") not in counter.close(START + WINDOW).notifications
    assert counter.sessions.metrics.repeated == 1


def test_an_end_without_its_request_is_counted_without_a_time() -> None:
    counter = _counter()

    counter.apply([_notification(1_000, READY)])
    tally = counter.close(START)

    assert _finot(tally)[0] == 1
    assert not tally.requests
    assert counter.sessions.metrics.without_request == 1


def test_sessions_that_never_end_are_dropped_after_their_time_and_counted() -> None:
    counter = _counter(max_age=1_000)

    counter.apply([_request(0), _request(900, "S-2")])
    counter.expire(1_500)

    assert len(counter.sessions) == 1
    assert counter.sessions.metrics.never_ended == 1


def test_sessions_beyond_the_bound_push_the_oldest_out_and_are_counted() -> None:
    counter = _counter(max_count=10)

    counter.apply([_request(number, f"S-{number}") for number in range(25)])

    assert len(counter.sessions) == 10
    assert counter.sessions.metrics.never_ended == 15


def test_the_same_session_id_at_two_fips_is_two_sessions() -> None:
    counter = _counter()

    counter.apply([_request(0), _request(0, fip="FIP-2"), _notification(1_000, READY)])

    assert _finot(counter.close(START))[0] == 1
    assert len(counter.sessions) == 2


def test_sessions_live_over_a_snapshot() -> None:
    counter = _counter()
    counter.apply([_request(0), _notification(1_000, READY), _request(10, "S-2")])

    other = _counter()
    other.restore(counter.state(), shift=500)
    other.apply([_notification(2_000, DENIED, "S-2")])
    tally = other.close(START)

    assert _finot(tally) == (2, [1, 1, 1, 1, 0, 0, 0])
    success = tally.requests["FIP-1", "sfireqnot"].times
    assert success is not None
    assert success.longest == 900
