"""FI sessions to their last word: over windows, out of order, more than once."""

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


def _notice(
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


def test_a_session_is_timed_from_its_200_to_the_deciding_notification() -> None:
    counter = _counter()

    counter.apply([_request(1_000, took=250), _notice(5_000, READY)])
    tally = counter.close(START)

    assert _finot(tally) == (1, [1, 0, 1, 0, 0, 0, 0])
    timing = tally.requests["FIP-1", "sfireqnot"]
    assert timing.counts[:3] == [1, 1, 0]
    assert timing.times is not None
    assert timing.times.percentiles() == (3_750,) * 4
    assert ("FIP-1", "ffireqnot") not in tally.requests


def test_denied_and_timed_out_accounts_are_a_failure() -> None:
    counter = _counter()

    counter.apply([_request(0), _notice(5_000, DENIED | TIMEOUT)])
    tally = counter.close(START)

    assert _finot(tally) == (1, [0, 1, 0, 1, 0, 1, 0])
    assert tally.requests["FIP-1", "ffireqnot"].counts[:2] == [1, 1]


def test_one_ready_account_among_denied_ones_is_a_success() -> None:
    counter = _counter()

    counter.apply([_request(0), _notice(5_000, DENIED | READY)])

    assert _finot(counter.close(START)) == (1, [1, 0, 1, 1, 0, 0, 0])


def test_intermediate_notifications_are_position_seven_and_nothing_else() -> None:
    counter = _counter()

    counter.apply(
        [
            _request(0),
            _notice(1_000, PENDING | READY),
            _notice(2_000, PENDING),
            _notice(3_000, READY),
        ]
    )

    assert _finot(counter.close(START)) == (1, [1, 0, 1, 0, 0, 0, 2])


def test_only_the_last_of_several_terminal_notifications_counts() -> None:
    counter = _counter()

    counter.apply(
        [_request(0), _notice(1_000, READY), _notice(2_000, DELIVERED), _notice(3_000, DELIVERED)]
    )
    tally = counter.close(START)

    assert _finot(tally) == (1, [1, 0, 0, 0, 1, 0, 0])
    timing = tally.requests["FIP-1", "sfireqnot"].times
    assert timing is not None
    assert timing.longest == 2_900


def test_a_notification_that_was_overtaken_by_a_later_word_does_not_replace_it() -> None:
    counter = _counter()

    counter.apply(
        [
            _request(0),
            _notice(1_000, DELIVERED, sent_at=2_000),
            _notice(2_000, READY, sent_at=1_000),
        ]
    )

    assert _finot(counter.close(START)) == (1, [1, 0, 0, 0, 1, 0, 0])
    assert counter.sessions.metrics.repeated == 1


def test_a_notification_that_comes_before_the_answer_of_its_request_counts() -> None:
    counter = _counter()

    counter.apply([_notice(50, READY), _request(0, took=100)])
    tally = counter.close(START)

    assert _finot(tally)[0] == 1
    timing = tally.requests["FIP-1", "sfireqnot"].times
    assert timing is not None
    assert timing.longest == 0


def test_the_end_is_counted_in_the_window_where_it_came() -> None:
    counter = _counter()

    counter.apply([_request(500 * SECOND), _notice(2 * WINDOW + 1_000, READY)])
    first, third = counter.close(START), counter.close(START + 2 * WINDOW)

    assert "finot" not in {code for _, code in first.notifications}
    assert _finot(third)[0] == 1
    timing = third.requests["FIP-1", "sfireqnot"].times
    assert timing is not None
    assert timing.longest == 2 * WINDOW + 1_000 - 500 * SECOND - 100


def test_a_last_word_moves_to_the_window_of_the_later_one_while_both_are_open() -> None:
    counter = _counter()

    counter.apply([_request(0), _notice(WINDOW - 1, READY), _notice(WINDOW + 1, DELIVERED)])
    first, second = counter.close(START), counter.close(START + WINDOW)

    assert ("FIP-1", "finot") not in first.notifications
    assert _finot(second) == (1, [1, 0, 0, 0, 1, 0, 0])


def test_a_repetition_after_the_window_closed_is_not_counted_again() -> None:
    counter = _counter()

    counter.apply([_request(0), _notice(1_000, READY)])
    counter.close(START)
    counter.apply([_notice(WINDOW + 5, READY)])

    assert ("FIP-1", "finot") not in counter.close(START + WINDOW).notifications
    assert counter.sessions.metrics.repeated == 1


def test_a_refused_notification_is_counted_but_ends_nothing() -> None:
    counter = _counter()

    counter.apply([_request(0), _notice(1_000, READY, status=401)])
    first = counter.close(START)
    counter.apply([_notice(WINDOW + 5, READY)])
    second = counter.close(START + WINDOW)

    assert _finot(first) == (1, [0] * 7)
    assert first.notifications["FIP-1", "finot"].counts[3] == 1
    assert _finot(second) == (1, [1, 0, 1, 0, 0, 0, 0])
    assert second.requests["FIP-1", "sfireqnot"].counts[0] == 1


def test_an_end_without_its_request_is_counted_without_a_time() -> None:
    counter = _counter()

    counter.apply([_notice(1_000, READY)])
    tally = counter.close(START)

    assert _finot(tally)[0] == 1
    assert not tally.requests
    assert counter.sessions.metrics.without_request == 1


def test_sessions_that_never_end_are_dropped_after_their_time_and_counted() -> None:
    counter = _counter(keep=1_000)

    counter.apply([_request(0), _request(900, "S-2")])
    counter.expire(1_500)

    assert len(counter.sessions) == 1
    assert counter.sessions.metrics.never_ended == 1


def test_sessions_beyond_the_bound_push_the_oldest_out_and_are_counted() -> None:
    counter = _counter(most=10)

    counter.apply([_request(number, f"S-{number}") for number in range(25)])

    assert len(counter.sessions) == 10
    assert counter.sessions.metrics.never_ended == 15


def test_the_same_session_id_at_two_fips_is_two_sessions() -> None:
    counter = _counter()

    counter.apply([_request(0), _request(0, fip="FIP-2"), _notice(1_000, READY)])

    assert _finot(counter.close(START))[0] == 1
    assert len(counter.sessions) == 2


def test_sessions_live_over_a_snapshot() -> None:
    counter = _counter()
    counter.apply([_request(0), _notice(1_000, READY), _request(10, "S-2")])

    other = _counter()
    other.restore(counter.state(), shift=500)
    other.apply([_notice(2_000, DENIED, "S-2")])
    tally = other.close(START)

    assert _finot(tally) == (2, [1, 1, 1, 1, 0, 0, 0])
    success = tally.requests["FIP-1", "sfireqnot"].times
    assert success is not None
    assert success.longest == 900
