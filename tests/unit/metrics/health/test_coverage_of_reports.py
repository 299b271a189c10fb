"""A report is missing from 15 minutes after its window, and counts as soon as it is here."""

from datetime import UTC, datetime, timedelta

import pytest

from mudra.metrics.payload.catalogue import WINDOW, Tag
from mudra.metrics.rollup.coverage import (
    FOREVER,
    Coverage,
    Proof,
    ReportingTimes,
    TimeRange,
    completeness,
    expected_windows,
)

END = datetime(2026, 3, 4, 12, tzinfo=UTC)
HOUR = TimeRange(END - timedelta(hours=1), END)
AA = "SAARTHI-AA"
REQUESTS, NOTIFICATIONS = (AA, Tag.REQUESTS), (AA, Tag.NOTIFICATIONS)


@pytest.mark.parametrize(
    ("minutes", "windows"), [(0, 4), (4, 4), (5, 5), (14, 5), (15, 6), (600, 6)]
)
def test_windows_are_expected_from_15_minutes_after_their_end(minutes: int, windows: int) -> None:
    always = ReportingTimes((TimeRange(END - 100 * WINDOW, FOREVER),))

    expected = expected_windows(HOUR, {AA: always}, END + timedelta(minutes=minutes))

    assert expected == {AA: windows}


@pytest.mark.parametrize(
    ("received", "early", "proof"),
    [
        pytest.param((4, 4), (0, 0), Proof(1, 1, 8, 8), id="all that are due"),
        pytest.param((6, 5), (2, 1), Proof(1, 1, 11, 11), id="early ones count when they are here"),
        pytest.param((5, 4), (2, 0), Proof(1, 1, 9, 10), id="early ones hide no missing one"),
        pytest.param((0, 0), (0, 0), Proof(0, 1, 0, 8), id="none"),
    ],
)
def test_the_proof_counts_what_is_due_and_what_is_here(
    received: tuple[int, int], early: tuple[int, int], proof: Proof
) -> None:
    keys = (REQUESTS, NOTIFICATIONS)
    found = Coverage(
        {AA: 4}, dict(zip(keys, received, strict=True)), dict(zip(keys, early, strict=True))
    )

    assert found.proof() == proof


def test_the_first_report_of_an_aa_makes_it_expected() -> None:
    assert Coverage({AA: 0}, {REQUESTS: 1}, {REQUESTS: 1}).proof() == Proof(1, 1, 1, 1)


@pytest.mark.parametrize(
    ("minutes", "early", "until", "pending"),
    [
        pytest.param(5, (0, 0), END - WINDOW, True, id="the newest may still come"),
        pytest.param(5, (1, 1), END, False, id="the newest is here"),
        pytest.param(5, (1, 0), END - WINDOW, True, id="one of its two reports is here"),
        pytest.param(15, (0, 0), END, False, id="it is late: missing, not pending"),
    ],
)
def test_reports_are_complete_up_to_the_last_window_that_came(
    minutes: int, early: tuple[int, int], until: datetime, *, pending: bool
) -> None:
    keys = (REQUESTS, NOTIFICATIONS)
    windows = [5 + one for one in early]
    coverage = Coverage(
        {AA: 5}, dict(zip(keys, windows, strict=True)), dict(zip(keys, early, strict=True))
    )

    found = completeness(coverage, HOUR, END + timedelta(minutes=minutes))

    assert (found.until, found.is_pending) == (until, pending)
    assert found.due == END + timedelta(minutes=15)
    assert (*found.lacking, *found.silent) == ()


def test_the_aas_whose_reports_lack_are_named_while_they_are_few() -> None:
    def lacking(number: int) -> list[str]:
        ids = [f"AA-{place}" for place in range(number)]
        keys = {(one, tag): 4 for one in ids for tag in Tag}
        names = {one: one.lower() for one in ids}
        coverage = Coverage(dict.fromkeys(ids, 6), keys, {})
        return [*completeness(coverage, HOUR, END + timedelta(hours=1), names=names).lacking]

    silent = Coverage({"AA-0": 6, "AA-1": 6}, {("AA-1", Tag.REQUESTS): 6}, {})
    found = completeness(silent, HOUR, END + timedelta(hours=1), names={"AA-0": "Narmada"})
    assert (found.lacking, found.silent) == (["AA-1"], ["Narmada"])
    assert lacking(3) == ["aa-0", "aa-1", "aa-2"]
    assert lacking(4) == []
