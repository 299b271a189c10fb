"""The status of a FIP weighs AAs, not calls alone: no single one of three or more can turn it.

An AA can report any number of calls that is plausible for it. The status over all AAs
is that of their sums unless most AAs say otherwise: then the others are left out.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

import numpy as np
from msgspec import Struct

from mudra.metrics.health.health import GOOD_ABOVE_PERCENT, status_of_calls
from mudra.metrics.health.weighed import Disputed, Weighed, eligible
from mudra.metrics.payload.catalogue import CALL_CODES, FIRST_4XX, FIRST_5XX, Position, Tag
from mudra.metrics.sums.adding import added
from mudra.metrics.sums.cells import COUNTS, Array, Cells, Flags, wide
from mudra.metrics.sums.rollup import Rollup
from mudra.metrics.sums.totals import Totals

MIN_REPORTERS: Final = 3
MIN_OWN_CALLS: Final = 20
"""Calls of an AA with which it can outvote another: a share of fewer says little."""
MIN_CALLS: Final = 100
"""Calls of those that agree: fewer may differ from the sums by chance."""
_4XX: Final = COUNTS[FIRST_4XX:FIRST_5XX]
_HALF_PERCENT: Final = 45
"""Fewer late calls among those that succeeded are not half of them."""
LARGE: Final = 2**50
"""Larger counts are multiplied as numbers of any length."""


def seen_by_most(calls: Totals) -> Totals:
    """Returns what most AAs see of each FIP and type: the sums of all calls but those left out.

    `calls` are those of each AA; an empty type means all calls.
    """
    calls = calls.by("aa", "type", "fip")
    outvoted = [row for _, rows in _disputes(calls).values() for row in rows]
    rows = np.delete(np.arange(len(calls)), np.array(outvoted, np.int64))
    return Totals(calls.cells.chosen(rows), calls.ids).by("type", "fip")


def disputed(calls: Totals) -> Disputed:
    """Returns the APIs of FIPs of which most AAs say other than the sums over all."""
    of_calls = calls.only(Tag.REQUESTS, CALL_CODES).by("aa", "type", "fip")
    return {api: seen for api, (seen, _) in _disputes(of_calls).items()}


def may_be_disputed(whole: Cells, not_good: Cells, windows: int) -> Array:
    """Returns the FIPs of which most AAs may say other than the sums over all, by their places.

    `whole` are these sums, by FIP and type. `not_good` are parts of those of each AA: all times of
    so many windows in which its calls were not certainly good. An AA without such a time sees good
    calls. Where the sum is good, more than half of the AAs must have one, and enough calls failed.
    """
    reporters = -(-whole.of("blocks") // windows)  # at least
    denominator = denominators(whole)
    failed = denominator - whole.of(COUNTS[Position.OK_200])
    enough = (failed * 100 >= MIN_CALLS * (100 - GOOD_ABOVE_PERCENT)) | (
        whole.of("late_upper") * 100 >= MIN_CALLS * _HALF_PERCENT
    )
    seen = added([not_good], ("type", "fip", "aa"), times=False)
    width = int(max(whole.keys["fip"].max(initial=0), seen.keys["fip"].max(initial=0))) + 1
    api, against = np.unique(seen.keys["type"] * width + seen.keys["fip"], return_counts=True)
    number = np.zeros((int(whole.keys["type"].max(initial=0)) + 1) * width, np.int64)
    known = api < len(number)
    number[api[known]] = against[known]
    most = 2 * number[whole.keys["type"] * width + whole.keys["fip"]] > reporters
    may = (denominator > 0) & (~certainly_good(whole) | (most & enough))
    found: Array = np.unique(whole.keys["fip"][may])
    return found


def _disputes(calls: Totals) -> dict[tuple[str, str], tuple[Weighed, list[int]]]:
    """Returns what most AAs see otherwise by FIP and type, and the rows that are left out of it.

    No AA is outvoted where each sees good calls alone: their sum is as good, so those that are not
    good are looked at one by one, and no others.
    """
    rows = np.flatnonzero(_contested(calls.cells)).tolist()
    contested = Totals(calls.cells.chosen(np.array(rows, np.int64)), calls.ids)
    by_api: dict[tuple[str, str], list[_Seen]] = defaultdict(list)
    for place, (cell, row) in enumerate(contested.items()):
        by_api[cell.fip_id, cell.type].append(_Seen(place, cell.aa_id, row))
    found = {}
    for cell, whole in contested.by("type", "fip").items():
        by_aa = by_api[cell.fip_id, cell.type]
        seen = _weighed(contested, by_aa, whole)
        if seen.outvoted:
            left_out = [rows[one.place] for one in by_aa if one.aa_id in seen.outvoted]
            found[cell.fip_id, cell.type] = seen, left_out
    return found


class _Seen(Struct, frozen=True):
    """What one AA sees: its place among the contested rows, and its sums."""

    place: int
    aa_id: str
    sums: Rollup


def _weighed(contested: Totals, by_aa: Sequence[_Seen], whole: Rollup) -> Weighed:
    status = status_of_calls(whole)[0]
    said = [one for one in by_aa if eligible(one.sums)]
    against = [one for one in said if status_of_calls(one.sums)[0] is not status]
    agreeing = sum(eligible(one.sums) >= MIN_OWN_CALLS for one in against)
    outvoted = {one.aa_id for one in said if one not in against}
    if len(said) < MIN_REPORTERS or agreeing <= len(outvoted):
        return Weighed(whole)
    places = np.array([one.place for one in by_aa if one.aa_id not in outvoted], np.int64)
    rest = next(Totals(contested.cells.chosen(places), contested.ids).by().rows())
    if eligible(rest) < MIN_CALLS or status_of_calls(rest)[0] is status:
        return Weighed(whole)
    return Weighed(rest, tuple(sorted(outvoted)))


def _contested(cells: Cells) -> Flags:
    """Returns the rows of those FIPs and types of which some AA does not see good calls."""
    api = cells.keys["type"] * (int(cells.keys["fip"].max(initial=0)) + 1) + cells.keys["fip"]
    return np.isin(api, np.unique(api[~certainly_good(cells)]))


def certainly_good(cells: Cells) -> Flags:
    """Returns which sums are certainly GOOD, and so is every sum of such: each term adds up."""
    return _good(cells, "late_upper")


def good(cells: Cells) -> Flags:
    """Returns which sums are GOOD, as `status_of_calls` of one."""
    return _good(cells, "late_estimate")


def denominators(cells: Cells) -> Array:
    """Returns the calls in the denominator of success of each row, as `eligible` of one."""
    refused = sum((cells.of(name) for name in _4XX), np.zeros(len(cells), np.int64))
    return cells.of(COUNTS[Position.TOTAL]) - refused


def _good(cells: Cells, late: str) -> Flags:
    denominator = denominators(cells)
    succeeded, answered = cells.of(COUNTS[Position.OK_200]), cells.answered()
    soon: Array = answered - cells.of(late)
    if max(int(column.max(initial=0)) for column in (denominator, answered)) > LARGE:
        denominator, succeeded = wide(denominator), wide(succeeded)
        answered, soon = wide(answered), wide(soon)
    found = (succeeded * 100 > denominator * GOOD_ABOVE_PERCENT) & (soon * 2 >= answered)
    return found.astype(np.bool_)
