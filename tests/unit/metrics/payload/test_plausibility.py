"""What an AA may report: bounded, and never lightly doubted."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from mudra.metrics.payload.plausibility import ReportedVolume, doubt_volume

ENOUGH_HISTORY = 6
GROWTH = 20
SMALL = 20_000
UNKNOWN_LIMIT = 10_000_000

CALLS = st.integers(0, 2**60)
VOLUMES = st.builds(
    ReportedVolume,
    st.integers(0, 1008),
    *(st.integers(0, 10**9) for _ in ("peak", "admitted", "others")),
)


@given(CALLS, VOLUMES)
def test_more_calls_are_never_more_plausible(calls, volume):
    doubt = doubt_volume(calls, volume)

    if doubt is not None:
        assert doubt_volume(calls + 1, volume) is not None
        assert doubt_volume(doubt.limit, volume) is None


@given(st.integers(ENOUGH_HISTORY, 1008), st.integers(0, 10**9), st.integers(1, 10), CALLS)
def test_a_jump_to_ten_times_the_peak_is_plausible(windows, peak, times, others):
    assert doubt_volume(times * peak, ReportedVolume(windows, peak, 0, others)) is None


@given(st.integers(0, ENOUGH_HISTORY - 1), st.integers(0, SMALL * GROWTH), CALLS)
def test_a_new_aa_may_report_as_much_as_a_large_one(windows, calls, others):
    assert doubt_volume(calls, ReportedVolume(windows, 0, 0, others)) is None


@given(st.integers(0, ENOUGH_HISTORY - 1), CALLS, st.integers(UNKNOWN_LIMIT + 1, 2**60))
def test_without_history_no_other_aas_make_any_number_plausible(windows, others, calls):
    assert doubt_volume(calls, ReportedVolume(windows, 0, 0, others)) is not None


@given(CALLS, VOLUMES)
def test_what_needs_no_history_is_plausible_by_any(calls, volume):
    assert doubt_volume(min(calls, SMALL), volume) is None


@given(CALLS, VOLUMES, st.integers(1, 10**9))
def test_what_an_operator_admitted_is_plausible_again(calls, volume, admitted):
    known = msgspec.structs.replace(volume, admitted=admitted)

    assert doubt_volume(min(calls, GROWTH * admitted), known) is None
