"""Each target of `make fuzz` holds on its seeds, changed at random."""

import pytest
from fuzz.seeds import SEEDS
from fuzz.targets import TARGETS
from hypothesis import given
from hypothesis import strategies as st


def test_each_target_has_seeds() -> None:
    assert SEEDS.keys() == TARGETS.keys()


@pytest.mark.parametrize("name", TARGETS)
@given(data=st.data())
def test_a_changed_seed_raises_only_what_is_declared(name: str, data: st.DataObject) -> None:
    """I7: without the guidance by coverage, which `make fuzz` has."""
    seed = data.draw(st.sampled_from(SEEDS[name]))
    start = data.draw(st.integers(0, len(seed)))
    end = data.draw(st.integers(start, len(seed)))

    TARGETS[name](seed)
    TARGETS[name](seed[:start] + data.draw(st.binary(max_size=20)) + seed[end:])
