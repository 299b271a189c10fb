"""What must hold of attribution whatever the network: symmetry, scale, order, and that liars fail."""

import numpy as np
import pytest
from bench.truth_network import Network, Settings
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.depth import examples
from tests.unit.metrics.attribution.attribution import (
    FIRST,
    REQUESTS,
    Fault,
    evaluate,
    failing,
    learned,
    named,
    only_caller,
)

from mudra.metrics.attribution.causes.cause import Kind, Locus
from mudra.metrics.attribution.engine import evaluate_window
from mudra.metrics.attribution.state import new_state, state_from_bytes, state_to_bytes

pytestmark = pytest.mark.deeper

AAS, FIPS = 5, 6
few = settings(max_examples=examples(8), deadline=None)
shares = st.floats(0.3, 1.0)


@few
@given(st.permutations(range(AAS)), st.permutations(range(FIPS)), shares)
def test_renaming_aas_and_fips_renames_the_causes_and_no_more(
    aas: list[int], fips: list[int], share: float
) -> None:
    plain: list[Fault] = [failing(share, fip=2), failing(share, aa=1)]
    renamed: list[Fault] = [failing(share, fip=fips[2]), failing(share, aa=aas[1])]

    _, before = evaluate(learned(), plain, 3)
    _, after = evaluate(learned(), renamed, 3)

    assert named(before) == {Locus(Kind.FIP, fip=2), Locus(Kind.AA, aa=1)}
    assert named(after) == {Locus(Kind.FIP, fip=fips[2]), Locus(Kind.AA, aa=aas[1])}


@few
@given(st.sampled_from([5, 40, 1000, 20_000]), shares, st.integers(0, FIPS - 1))
def test_the_size_of_a_network_does_not_change_who_is_blamed(
    calls: float, share: float, fip: int
) -> None:
    _, causes = evaluate(learned(calls=calls), [failing(share, fip=fip)], 3, calls=calls)

    assert named(causes) == {Locus(Kind.FIP, fip=fip)}


@few
@given(st.floats(0.1, 1.0), st.floats(0.0, 1.0), st.integers(0, FIPS - 1))
def test_more_failures_at_a_fip_never_move_the_blame_away_from_it(
    share: float, more: float, fip: int
) -> None:
    worse = share + (1 - share) * more

    _, before = evaluate(learned(), [failing(share, fip=fip)], 4)
    _, after = evaluate(learned(), [failing(worse, fip=fip)], 4)

    assert named(before) <= named(after) <= {Locus(Kind.FIP, fip=fip)}


@few
@given(st.integers(0, AAS - 1), shares)
def test_an_aa_at_94_9_or_95_4_percent_does_not_change_who_is_blamed(aa: int, share: float) -> None:
    above: list[Fault] = [failing(share, fip=0), failing(0.046, aa=aa)]
    below: list[Fault] = [failing(share, fip=0), failing(0.051, aa=aa)]

    assert named(evaluate(learned(), above, 3)[1]) == named(evaluate(learned(), below, 3)[1])


@pytest.mark.parametrize("seed", range(examples(1)))
def test_nothing_is_blamed_when_nothing_is_wrong(seed: int) -> None:
    network = Network(Settings(aas=4, fips=12, seed=9000 + seed))
    state = new_state(4, 12)
    for window in range(FIRST, FIRST + 150):
        evaluation = evaluate_window(network.draw(window, network.odds(window)).evidence, state)
        state = evaluation.state

        assert evaluation.causes == ()
        assert evaluation.implausible == ()


@few
@given(st.integers(0, AAS - 1), st.floats(1, 9e15))
def test_one_aa_cannot_acquit_a_fip_that_the_others_see_fail(liar: int, claimed: float) -> None:
    def lie(evidence: object) -> None:
        evidence.total[REQUESTS, liar, 3] = claimed  # type: ignore[attr-defined]
        evidence.failed[REQUESTS, liar, 3] = 0  # type: ignore[attr-defined]
        evidence.client_errors[REQUESTS, liar, 3] = 0  # type: ignore[attr-defined]

    _, causes = evaluate(learned(), [failing(1.0, fip=3), lie], 3)

    assert Locus(Kind.FIP, fip=3) in named(causes)


@few
@given(st.integers(0, AAS - 1), st.floats(40, 9e15))
def test_one_aa_cannot_convict_a_fip_that_the_others_reach(liar: int, claimed: float) -> None:
    def lie(evidence: object) -> None:
        evidence.total[REQUESTS, liar, 3] = claimed  # type: ignore[attr-defined]
        evidence.failed[REQUESTS, liar, 3] = claimed  # type: ignore[attr-defined]
        evidence.client_errors[REQUESTS, liar, 3] = 0  # type: ignore[attr-defined]

    _, causes = evaluate(learned(), [lie], 4)

    assert all(locus.kind in {Kind.PATH, Kind.AA} and locus.aa == liar for locus in named(causes))


@few
@given(st.integers(0, AAS - 1), st.integers(0, FIPS - 1), shares)
def test_with_one_caller_it_is_the_fip_or_the_path(aa: int, fip: int, share: float) -> None:
    _, causes = evaluate(learned(), [only_caller(aa, fip), failing(share, fip=fip)], 4)

    [cause] = causes
    places = {cause.locus, *cause.ambiguous_with}
    assert {Locus(Kind.FIP, fip=fip), Locus(Kind.PATH, aa, fip)} <= places


def test_the_same_evidence_gives_the_same_state_also_through_storage() -> None:
    network = Network(Settings(aas=4, fips=10, seed=77))
    windows = [network.draw(FIRST + i, network.odds(FIRST + i)).evidence for i in range(8)]
    kept = stored = new_state(4, 10)
    for evidence in windows:
        kept = evaluate_window(evidence, kept).state
        stored = evaluate_window(evidence, state_from_bytes(state_to_bytes(stored))).state

    assert state_to_bytes(kept) == state_to_bytes(stored)


def test_no_state_is_changed_in_place() -> None:
    state = learned()
    before = state_to_bytes(state)

    evaluate(state, [failing(1.0, fip=0)], 2)

    assert state_to_bytes(state) == before
    assert np.isfinite(state.running.full.path).all()
