"""The status of a FIP weighs AAs, not calls alone: no single one of three or more can turn it.

An AA can report any number of calls that is plausible for it. The status over all AAs
is that of their sums unless most AAs say otherwise: then the others are left out.
"""

from collections import defaultdict
from collections.abc import Mapping
from functools import reduce
from typing import Final

from msgspec import Struct

from mudra.metrics.health.health import Status
from mudra.metrics.payload.catalogue import TIMING_CODES, Tag
from mudra.metrics.ports import Pair, SumsOfFips
from mudra.metrics.rollup.pair import PairSums, add_pairs, pair_sums, status_of_pair
from mudra.metrics.rollup.percentage import share_of
from mudra.metrics.rollup.rollup import Cell, Rollup

MIN_REPORTERS: Final = 3
MIN_OWN_CALLS: Final = 20
"""Calls of an AA with which it can outvote another: a share of fewer says little."""
MIN_CALLS: Final = 100
"""Calls of those that agree: fewer may differ from the sums by chance."""


class Weighed(Struct, frozen=True):
    """What most AAs see of a FIP; `outvoted` are the AAs whose calls are left out."""

    sums: PairSums
    outvoted: tuple[str, ...] = ()

    @property
    def status(self) -> Status:
        """GOOD, BAD or UNSURE."""
        return status_of_pair(self.sums)

    @property
    def success(self) -> float | None:
        """The share of succeeded calls; None without a denominator."""
        return share_of(self.sums.succeeded, self.sums.eligible)


Disputed = Mapping[tuple[str, str], Weighed]
"""By FIP and type of request, where most AAs say other than the sums over all."""


def weigh(by_aa: Mapping[str, PairSums]) -> Weighed:
    """Returns the sums over the AAs, of which there is at least one, without those outvoted."""
    whole = reduce(add_pairs, by_aa.values())
    said = {aa_id: status_of_pair(sums) for aa_id, sums in by_aa.items() if sums.eligible}
    outvoted = {aa_id for aa_id, status in said.items() if status is status_of_pair(whole)}
    agreeing = sum(by_aa[aa_id].eligible >= MIN_OWN_CALLS for aa_id in said.keys() - outvoted)
    if len(said) < MIN_REPORTERS or agreeing <= len(outvoted):
        return Weighed(whole)
    rest = reduce(add_pairs, (sums for aa, sums in by_aa.items() if aa not in outvoted))
    if rest.eligible < MIN_CALLS or status_of_pair(rest) is status_of_pair(whole):
        return Weighed(whole)
    return Weighed(rest, tuple(sorted(outvoted)))


def weigh_apis(totals: Mapping[Cell, Rollup]) -> Disputed:
    """Returns the APIs of FIPs of which most AAs say other than the sums, from sums by AA."""
    by_api: dict[tuple[str, str], dict[str, Rollup]] = defaultdict(dict)
    for cell, row in totals.items():
        if cell.tag is Tag.REQUESTS and cell.aa_id and cell.type not in TIMING_CODES:
            by_api[cell.fip_id, cell.type][cell.aa_id] = row
    weighed = {
        api: weigh({aa_id: pair_sums(row) for aa_id, row in by_aa.items()})
        for api, by_aa in by_api.items()
        if len(by_aa) >= MIN_REPORTERS
    }
    return {api: one for api, one in weighed.items() if one.outvoted}


def weigh_fips(pairs: Mapping[Pair, PairSums]) -> dict[str, Weighed]:
    """Returns the sums of each FIP."""
    by_fip: dict[str, dict[str, PairSums]] = defaultdict(dict)
    for pair, sums in pairs.items():
        by_fip[pair.fip_id][pair.aa_id] = sums
    return {fip_id: weigh(by_aa) for fip_id, by_aa in by_fip.items()}


def weigh_day(sums: SumsOfFips) -> dict[str, Weighed]:
    """Returns the same of many pairs, of which those that no AA contests are added up before."""
    uncontested = {fip_id: Weighed(whole) for fip_id, whole in sums.whole.items()}
    return uncontested | weigh_fips(sums.contested)


def outvoted(code: str, contested: Mapping[Pair, PairSums]) -> Disputed:
    """Returns the FIPs whose status of an API is not that of their sums, by FIP and API."""
    return {
        (fip_id, code): weighed
        for fip_id, weighed in weigh_fips(contested).items()
        if weighed.outvoted
    }
