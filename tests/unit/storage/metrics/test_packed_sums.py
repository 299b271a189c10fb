"""Packed sums of many FIPs are those of each FIP, added up one by one."""

from collections import defaultdict

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from mudra.metrics.payload.catalogue import COUNTS, STATUSES
from mudra.metrics.payload.report import NotificationBlock, RequestBlock
from mudra.metrics.rollup.latency_distribution import coarsen
from mudra.metrics.rollup.rollup import EMPTY, Rollup, coarse, merge_all, rollup
from mudra.storage.metrics.rollups.packed_sums import add, by_fip, over_fips, pack

CALLS = st.sampled_from([0, 1, 2, 20, 3000, 2**53])
TIMES = st.lists(
    st.sampled_from([0, 1, 15, 16, 250, 4999, 60_000, 2**40]), min_size=4, max_size=4
).map(lambda times: tuple(sorted(times)))
SIZES = st.sampled_from([UNSET, "12", str(10**30)])


def counts(calls, failed):
    return (calls + failed, calls, failed, *[0] * (COUNTS - 3))


REQUESTS = st.builds(RequestBlock, st.just("fif"), TIMES, st.builds(counts, CALLS, CALLS), SIZES)
NOTICES = st.builds(
    NotificationBlock,
    st.just("finot"),
    st.builds(counts, CALLS, CALLS),
    st.one_of(st.just(UNSET), st.just((3,) * STATUSES)),
)
WINDOWS = st.sampled_from([REQUESTS, NOTICES]).flatmap(
    lambda blocks: st.lists(
        st.dictionaries(
            st.sampled_from(["BANK-1", "BANK-2", "BANK-3", "BANK-4"]),
            st.lists(blocks, min_size=1, max_size=2).map(lambda some: coarse(rollup(some))),
        ),
        min_size=1,
        max_size=7,
    )
)


def plain(sums: Rollup) -> Rollup:
    """The same with an empty distribution in one form."""
    return merge_all([EMPTY, sums, Rollup(0, (0,) * COUNTS, (0,) * STATUSES, 0, COARSE)])


COARSE = coarsen(rollup([RequestBlock("fif", (0, 0, 0, 0), (1, *[0] * (COUNTS - 1)), UNSET)]).times)


@settings(max_examples=150, deadline=None)
@given(WINDOWS)
def test_packed_sums_are_those_of_each_fip_added_up(windows):
    parts = defaultdict(list)
    for window in windows:
        for fip_id, sums in window.items():
            parts[fip_id].append(sums)
    truth = {fip_id: plain(merge_all(many)) for fip_id, many in parts.items()}
    packed = [pack(window) for window in windows]

    def read(many, fip_id=None):
        return {name: plain(sums) for name, sums in by_fip(many, fip_id).items()}

    assert read(packed) == truth
    assert read([add(packed[:2]), *packed[2:]]) == truth
    assert read([add(packed)], "BANK-2") == {
        name: sums for name, sums in truth.items() if name == "BANK-2"
    }
    together = over_fips(packed)
    if not truth:
        assert together is None
    else:
        assert together is not None
        assert plain(together) == merge_all(truth.values())
