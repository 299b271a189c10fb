"""The status of a FIP weighs AAs, not calls alone: no single one of three or more can turn it.

An AA can report any number of calls that is plausible for it. The status over all AAs
is that of their sums unless most AAs say otherwise: then the others are left out.
"""

from collections import defaultdict
from collections.abc import Mapping
from typing import Final

import numpy as np

from mudra.metrics.health.health import GOOD_ABOVE_PERCENT, Disputed, Weighed
from mudra.metrics.health.judging import (
    certainly_good,
    eligible,
    judged,
    shares,
    statuses,
    succeeded,
)
from mudra.metrics.payload.catalogue import CALL_CODES, Position, Tag
from mudra.metrics.sums.adding import added
from mudra.metrics.sums.cells import COUNTS, TYPES, Array, Cells
from mudra.metrics.sums.totals import Totals

MIN_REPORTERS: Final = 3
MIN_OWN_CALLS: Final = 20
"""Calls of an AA with which it can outvote another: a share of fewer says little."""
MIN_CALLS: Final = 100
"""Calls of those that agree: fewer may differ from the sums by chance."""
_HALF_PERCENT: Final = 45
"""Fewer late calls among those that succeeded are not half of them."""


def seen_by_most(calls: Totals) -> Totals:
    """Returns what most AAs see of each FIP and type: the sums of all calls but those left out.

    `calls` are those of each AA; an empty type means all calls.
    """
    calls = calls.by("aa", "type", "fip")
    left_out = {(aa_id, *api) for api, one in _outvoted(calls).items() for aa_id in one.outvoted}
    if not left_out:
        return calls.by("type", "fip")
    rows = zip(calls.aa_ids(), calls.fip_ids(), calls.codes(), strict=True)
    seen = np.array([row not in left_out for row in rows], np.bool_)
    return Totals(calls.cells.chosen(seen), calls.ids).by("type", "fip")


def disputed(calls: Totals) -> Disputed:
    """Returns the APIs of FIPs of which most AAs say other than the sums over all."""
    return _outvoted(calls.only(Tag.REQUESTS, CALL_CODES).by("aa", "type", "fip"))


def may_be_disputed(whole: Cells, not_good: Cells, windows: int) -> Array:
    """Returns the FIPs of which most AAs may say other than the sums over all, by their places.

    `whole` are these sums, by FIP and type. `not_good` are parts of those of each AA: all times of
    so many windows in which its calls were not certainly good. An AA without such a time sees good
    calls. Where the sum is good, more than half of the AAs must have one, and enough calls failed.
    """
    reporters = -(-whole.of("blocks") // windows)  # at least
    denominator = eligible(whole)
    failed = denominator - succeeded(whole)
    enough = (failed * 100 >= MIN_CALLS * (100 - GOOD_ABOVE_PERCENT)) | (
        whole.of("late_upper") * 100 >= MIN_CALLS * _HALF_PERCENT
    )
    seen = added([not_good], ("type", "fip", "aa"), times=False)
    api, against = np.unique(_api(seen), return_counts=True)
    at = np.searchsorted(api, _api(whole))
    known = np.isin(_api(whole), api)
    number = np.zeros(len(whole), np.int64)
    number[known] = against[at[known]]
    most = 2 * number > reporters
    may = (denominator > 0) & (~certainly_good(whole) | (most & enough))
    found: Array = np.unique(whole.keys["fip"][may])
    return found


def _weighed(
    calls: Totals, outvoted: Mapping[int, tuple[str, ...]]
) -> dict[tuple[str, str], Weighed]:
    """Returns the sums of each FIP and type; `outvoted` are AAs by the places of both."""
    cells, api = calls.cells, _api(calls.cells)
    found = map(
        Weighed,
        statuses(judged(cells)),
        cells.of(COUNTS[Position.TOTAL]).tolist(),
        shares(succeeded(cells), eligible(cells)),
        [outvoted.get(one, ()) for one in api.tolist()],
    )
    return dict(zip(zip(calls.fip_ids(), calls.codes(), strict=True), found, strict=True))


def _outvoted(calls: Totals) -> dict[tuple[str, str], Weighed]:
    """Returns what most AAs see where that is not what the sums over all say.

    No AA is outvoted where each sees good calls alone: their sum is as good, so only those are
    looked at of which some AA does not.
    """
    cells = _contested(calls.cells)
    if not len(cells):
        return {}
    whole = added([cells], ("type", "fip"), times=False)
    order = np.argsort(_api(whole), kind="stable")
    known, of_all = _api(whole)[order], judged(whole).status[order]
    api = np.searchsorted(known, _api(cells))
    said = eligible(cells) > 0
    against = said & (judged(cells).status != of_all[api])
    with_calls = against & (eligible(cells) >= MIN_OWN_CALLS)
    agrees = said & ~against
    reporters, agreeing, outvoted = (
        np.bincount(api[which], minlength=len(known)) for which in (said, with_calls, agrees)
    )
    turned = (reporters >= MIN_REPORTERS) & (agreeing > outvoted)
    left = cells.chosen(turned[api] & ~agrees)
    rest = added([left], ("type", "fip"), times=False)
    other = judged(rest).status != of_all[np.searchsorted(known, _api(rest))]
    rest = rest.chosen((eligible(rest) >= MIN_CALLS) & other)
    names: dict[int, list[str]] = defaultdict(list)
    left_out = Totals(cells.chosen(turned[api] & agrees), calls.ids)
    for one, aa_id in zip(_api(left_out.cells).tolist(), left_out.aa_ids(), strict=True):
        names[one].append(aa_id)
    sorted_names = {one: tuple(sorted(aa_ids)) for one, aa_ids in names.items()}
    return _weighed(Totals(rest, calls.ids), sorted_names)


def _contested(cells: Cells) -> Cells:
    """Returns the rows of those FIPs and types of which some AA does not see good calls."""
    api = _api(cells)
    return cells.without_times().chosen(np.isin(api, api[~certainly_good(cells)]))


def _api(cells: Cells) -> Array:
    """Returns a number for each FIP and type."""
    return cells.keys["fip"] * len(TYPES) + cells.keys["type"]
