"""Every number of a report equals a recount, window by window, that shares no code with it."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.support.depth import examples
from tests.unit.levels.recount import APIS, Event, World, fate, quantile, random_world, recount
from tests.unit.levels.worlds import MEMBER, evidence_of

from mudra.levels.calculation import figures
from mudra.levels.target import Measure
from mudra.metrics.sums.percentiles import percentiles_of

CUSTOMER = ("adisc", "fireq")
UNCALLED = "alink"
"""For customers as well: it may be down where decisions leave out each API that was called."""


@pytest.mark.deeper
@settings(max_examples=examples(60))
@given(st.integers(0, 2**32))
@example(19093)  # both APIs that were called are left out of an outage of all
def test_each_figure_equals_the_recount(seed: int) -> None:
    world = random_world(seed)

    found = {
        (one.measure, one.api): one
        for one in figures(evidence_of(world), MEMBER.role, (), percentiles_of)
    }

    for api in ("", *APIS):
        known = recount(world, CUSTOMER if not api else (api,))
        if (Measure.SUCCESS, api) not in found:
            assert not any(key[2] == api for key in world.seen)
            continue
        success, up = found[Measure.SUCCESS, api], found[Measure.AVAILABILITY, api]
        assert (success.part, success.whole) == (known.good, known.eligible)
        assert (up.part, up.whole) == (known.eligible - known.lost, known.eligible)
        assert up.uncertain == known.doubt
        assert (up.down_windows, up.windows) == _time(
            world, (api,) if api else (*CUSTOMER, UNCALLED)
        )
        for measure, percent in ((Measure.P95, 95), (Measure.P99, 99)):
            if api:
                longest = 1 << 40
                assert found[measure, api].value == quantile(known.cells, percent, longest)


def _time(world: World, apis: tuple[str, ...]) -> tuple[int, int]:
    """Windows of outages of all AAs, and reported ones that are not maintenance."""
    everywhere = [one for one in world.events if one.kind not in {"path", "aa", "aa-maintenance"}]
    alone = World(world.windows, {}, everywhere, world.reported)
    down = maintained = 0
    for window in world.reported:
        fates = [fate(alone, window, "", api) for api in apis]
        down += "lost" in fates
        maintained += all(_maintained(everywhere, window, api) for api in apis)
    return down, len(world.reported) - maintained


def _maintained(events: list[Event], window: int, api: str) -> bool:
    here = [one for one in events if one.first <= window < one.end and one.api in {"", api}]
    planned = any(one.kind == "maintenance" and one.notice.days >= 1 for one in here)
    return planned and not any(one.kind == "left_out" for one in here)


def test_the_search_above_finds_each_kind_of_event() -> None:
    kinds = {one.kind for seed in range(60) for one in random_world(seed).events}

    assert len(kinds) == 9
