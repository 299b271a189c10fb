"""No FIP of which most AAs say other than all calls together is left out before it is looked at."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.depth import examples

from mudra.metrics.health.judging import certainly_good
from mudra.metrics.health.weighing import disputed, may_be_disputed
from mudra.metrics.payload.catalogue import RequestType, Tag
from mudra.metrics.sums.adding import added
from mudra.metrics.sums.cells import Cells, type_place
from mudra.metrics.sums.totals import Totals

CONSENT = type_place(Tag.REQUESTS, RequestType.CONSENT)
FIPS, AAS = 3, 7
IDS = ["", *(f"aa-{place}" for place in range(AAS)), *(f"fip-{place}" for place in range(FIPS))]


@pytest.mark.deeper
@settings(max_examples=examples(200), deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 4), st.sampled_from([5, 30, 400]))
def test_a_disputed_fip_is_always_one_that_may_be(seed: int, windows: int, calls: int):
    parts = [drawn(np.random.default_rng((seed, place)), calls, place) for place in range(windows)]
    by = ("aa", "type", "fip")
    pairs = added(parts, by, times=False)
    whole = added(parts, ("type", "fip"), times=False)
    not_good = [part.chosen(~certainly_good(part)) for part in parts]

    found = may_be_disputed(whole, added(not_good, by, times=False), windows)

    outvoted = {fip_id for fip_id, _ in disputed(Totals(pairs, IDS))}
    assert outvoted <= {IDS[place] for place in found.tolist()}


def test_a_healthy_network_has_none():
    dice = np.random.default_rng(1)
    parts = [drawn(dice, 400, place, bad=0.0) for place in range(6)]
    whole = added(parts, ("type", "fip"), times=False)
    not_good = [part.chosen(~certainly_good(part)) for part in parts]

    found = may_be_disputed(whole, added(not_good, ("aa", "type", "fip"), times=False), 6)

    assert not len(found)


def drawn(dice: np.random.Generator, calls: int, at: int, bad: float = 0.4) -> Cells:
    """The sums of one window: some AAs see failing, slow or refused calls; one calls most."""
    rows = FIPS * AAS
    aa, fip = np.divmod(np.arange(rows), FIPS)
    total = dice.integers(0, calls, rows) * np.where(aa == 0, 20, 1)
    failing = np.where(dice.random(rows) < bad, dice.choice([0.06, 0.5, 1.0], rows), 0.001)
    failed = dice.binomial(total, failing)
    refusing = dice.choice([0.0, 0.3, 1.0], rows, p=[0.6, 0.3, 0.1]) if bad else 0.0
    refused = dice.binomial(total - failed, refusing)
    good = total - failed - refused
    late = dice.binomial(good, np.where(dice.random(rows) < bad / 2, 0.9, 0.0))
    keys = {"at": np.full(rows, at), "aa": aa + 1, "type": np.full(rows, CONSENT),
            "fip": fip + 1 + AAS}  # fmt: skip
    sums = {"blocks": np.ones(rows, np.int64), "c0": total, "c1": good, "c3": refused,
            "c12": failed, "late_lower": late // 2, "late_estimate": late,
            "late_upper": np.minimum(late * 2, total)}  # fmt: skip
    cells = Cells(keys, sums, np.where(late > 0, 6000, 10), None, None)
    return cells.chosen(total > 0)
