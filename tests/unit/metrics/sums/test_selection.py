"""Which blocks are read for a range: each report once, and the coarsest that are valid."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from mudra.metrics.payload.catalogue import WINDOW
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.stale import DAY, HOUR
from mudra.metrics.sums.selection import (
    SeriesKey,
    StaleSums,
    of_aas,
    over_aas,
    valid_days,
    windows_asked,
)

FIRST = datetime(2026, 3, 4, tzinfo=UTC)
AAS, TAGS = ("", "aa-one", "aa-two"), ("req", "not")
LENGTHS = {"days": DAY, "hours": HOUR, "windows": WINDOW}


def windows_read(selected, aa_id, tag):
    """Each window as often as it is read of a series."""
    found = []
    for grain, length in LENGTHS.items():
        times = getattr(selected, grain)
        chosen = {at for at in times.times if SeriesKey(aa_id, tag, at) not in times.without}
        chosen |= {key.at for key in times.only if (key.aa_id, key.tag) == (aa_id, tag)}
        found += [window for at in chosen for window in TimeRange(at, at + length).windows]
    return sorted(found)


PLACES = st.integers(0, 3 * 144)
SERIES = st.tuples(st.sampled_from(AAS), st.sampled_from(TAGS))
STALE = st.builds(
    lambda days, hours, windows: StaleSums(
        frozenset(SeriesKey(*one, FIRST + place * DAY) for one, place in days),
        frozenset(SeriesKey(*one, FIRST + place * HOUR) for one, place in hours),
        frozenset(FIRST + place * WINDOW for place in windows),
    ),
    st.sets(st.tuples(SERIES, st.integers(0, 2)), max_size=3),
    st.sets(st.tuples(SERIES, st.integers(0, 71)), max_size=6),
    st.sets(PLACES, max_size=6),
)


@given(PLACES, PLACES, STALE, st.sampled_from([DAY, HOUR, WINDOW]))
def test_each_window_of_an_aa_is_read_once_and_never_of_stale_sums(start, end, stale, longest):
    within = TimeRange(FIRST + start * WINDOW, FIRST + end * WINDOW)

    selected = of_aas(within, stale, longest)

    for aa_id in AAS[1:]:
        for tag in TAGS:
            assert windows_read(selected, aa_id, tag) == [*within.windows]
    of_aas_stale = {one for one in stale.days if one.aa_id}
    assert {one for one in of_aas_stale if one.at in selected.days.times} <= selected.days.without
    assert not selected.hours.only & stale.hours


@given(PLACES, PLACES, STALE, st.sampled_from([DAY, HOUR, WINDOW]))
def test_each_window_is_read_once_over_all_aas_or_of_each(start, end, stale, longest):
    within = TimeRange(FIRST + start * WINDOW, FIRST + end * WINDOW)

    selected = over_aas(within, stale, longest)

    together = [
        window
        for grain, length in LENGTHS.items()
        for at in getattr(selected, grain)
        for window in TimeRange(at, at + length).windows
    ]
    for aa_id in AAS[1:]:
        for tag in TAGS:
            of_each = windows_read(selected.rest, aa_id, tag)
            assert sorted([*together, *of_each]) == [*within.windows]
    assert not stale.windows & selected.windows
    assert selected.windows <= windows_asked(within, stale, longest)
    assert not {one.at for one in stale.hours} & selected.hours
    assert not {one.at for one in stale.days} & selected.days


def test_a_month_is_read_by_its_days():
    month = TimeRange(FIRST, FIRST + 30 * DAY)
    stale = StaleSums(hours=frozenset({SeriesKey("aa-one", "req", FIRST + timedelta(hours=5))}))

    assert len(over_aas(month, stale).days) == 29
    assert valid_days(month, stale)[0] == FIRST + DAY
