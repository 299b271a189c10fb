"""The two payloads of a window (0020)."""

import pytest
from tests.support.manual_clock import START, MovedClock

from mudra.agent.counting.payload import Reporter, payloads
from mudra.agent.counting.window import WINDOW, WindowTally
from mudra.metrics.payload.catalogue import Tag
from mudra.metrics.payload.validation import CheckedReport, check_report

BY = Reporter("AA-1", "1.0.0")


@pytest.mark.parametrize(("code", "inbound"), [("adisc", False), ("alnot", True)])
def test_a_tag_without_traffic_has_an_empty_payload(code: str, *, inbound: bool) -> None:
    window = WindowTally()
    tally = window.block("FIP-1", code, inbound=inbound)
    assert tally is not None
    tally.started()
    tally.answered(200, 100, timed=not inbound)

    made = payloads(START, window, BY)

    assert {one.tag for one in made} == set(Tag)
    busy = Tag.NOTIFICATIONS if inbound else Tag.REQUESTS
    for one in made:
        checked = check_report(one.body, MovedClock(START + WINDOW).datetime())
        assert isinstance(checked, CheckedReport), checked
        assert len(checked.report.fips) == (one.tag is busy)


@pytest.mark.parametrize("tag", [Tag.REQUESTS, Tag.NOTIFICATIONS])
def test_a_window_without_calls_is_two_valid_payloads_without_fips(tag: Tag) -> None:
    bodies = {one.tag: one.body for one in payloads(START, WindowTally(), BY)}

    checked = check_report(bodies[tag], MovedClock(START + WINDOW).datetime())

    assert len(bodies) == 2
    assert isinstance(checked, CheckedReport), checked
    assert checked.report.fips == ()
