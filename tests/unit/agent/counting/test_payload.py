"""What is told of a window: both payloads when anything happened in it, else none (0022)."""

import pytest
from tests.support.manual_clock import START, MovedClock

from mudra.agent.counting.payload import Reporter, payloads
from mudra.agent.counting.window import WINDOW, WindowTally
from mudra.metrics.payload.catalogue import Tag
from mudra.metrics.payload.validation import CheckedReport, check_report

BY = Reporter("AA-1", "1.0.0")


@pytest.mark.parametrize(("code", "inbound"), [("adisc", False), ("alnot", True)])
def test_a_tag_without_traffic_is_told_by_an_empty_payload(code: str, *, inbound: bool) -> None:
    window = WindowTally()
    tally = window.block("FIP-1", code, inbound=inbound)
    assert tally is not None
    tally.began()
    tally.answered(200, 100, timed=not inbound)

    made = payloads(START, window, BY)

    assert {one.tag for one in made} == set(Tag)
    busy = Tag.NOTIFICATIONS if inbound else Tag.REQUESTS
    for one in made:
        checked = check_report(one.body, MovedClock(START + WINDOW).datetime())
        assert isinstance(checked, CheckedReport), checked
        assert len(checked.report.fips) == (one.tag is busy)


def test_nothing_is_told_of_a_window_in_which_nothing_happened() -> None:
    assert payloads(START, WindowTally(), BY) == []
