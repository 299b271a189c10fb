"""Where an export goes on: after what was taken, and a minute before where the receiver failed."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from mudra.audit.export import DOUBT, ExportPosition

START = datetime(2026, 11, 29, tzinfo=UTC)
BATCHES = st.lists(
    st.tuples(st.integers(1, 200), st.floats(0, 90, allow_nan=False)), min_size=1, max_size=300
)


@given(BATCHES)
def test_after_a_failure_at_least_the_last_minute_is_sent_again(
    batches: list[tuple[int, float]],
) -> None:
    """Nothing that was taken within it is left out, whatever came before and how often."""
    position, now, taken = ExportPosition(), START, []
    for count, seconds in batches:
        now += timedelta(seconds=seconds)
        position = position.taken(position.number + count, now)
        taken.append((position.number, now))
    again = position.failed()
    lately = [number for number, at in taken if at > now - DOUBT]

    assert position.number == taken[-1][0]
    assert len(position.marks) <= 101
    assert again.number < lately[0]
    assert again.failed() == again


def test_a_receiver_that_worked_for_long_gets_only_little_again() -> None:
    position = ExportPosition()
    for minute in range(10):
        position = position.taken(position.number + 5, START + timedelta(minutes=minute))

    assert position.failed().number == 45
