"""The evidence of where a cause lies: the calls that it hits, next to like calls that it does not.

Of a FIP the calls of each AA, and what the same AAs reach elsewhere; of an AA the other way
round; of a path both ends without each other.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from msgspec import Struct

from mudra.localization.language import gettext
from mudra.metrics.incidents.incident import AaReporting, Incident, Network
from mudra.metrics.incidents.subject import NO_NAMES, Names, aa_concerned, fip_concerned
from mudra.metrics.ports import Pair
from mudra.metrics.rollup.percentage import share_of

MAX_ROWS: Final = 12
"""Single counterparts; the rest of them is one row."""
Calls = tuple[int, int]
"""Those that succeeded, and all but 4xx."""


class Contrast(Struct, frozen=True):
    """One row: some calls in the bad time of an incident.

    `affected` is None for calls that the cause does not explain: what they are compared with.
    """

    text: str
    aa_id: str
    fip_id: str
    succeeded: int
    eligible: int
    affected: bool | None

    @property
    def share(self) -> float | None:
        """The share of calls that succeeded; None without calls."""
        return share_of(self.succeeded, self.eligible)


def contrasts(
    incident: Incident, calls: Mapping[Pair, Calls], names: Names = NO_NAMES
) -> list[Contrast]:
    """Returns the calls of a cause, the affected and the worst first, and then the others.

    Members appear by their name where `names` has it.
    """

    def named(entity_id: str) -> str:
        return names.get(entity_id, entity_id)

    subject, cause = incident.subject, incident.cause
    aa, fip = aa_concerned(subject), fip_concerned(subject)
    if isinstance(subject, AaReporting):
        return []
    if isinstance(subject, Network):
        by_aa = _grouped(calls, lambda pair: pair.aa_id)
        return _limited(
            _row(named(one), one, "", sums, affected=True) for one, sums in by_aa.items()
        )
    if aa and fip:
        return _of_pair(Pair(aa, fip), calls, {"aa": named(aa), "fip": named(fip)})
    if fip:
        hit = set(cause.affected_aas)
        rows = [
            _row(named(pair.aa_id), pair.aa_id, fip, sums, affected=pair.aa_id in hit)
            for pair, sums in calls.items()
            if pair.fip_id == fip
        ]
        rest = _sum(
            sums for pair, sums in calls.items() if pair.fip_id != fip and pair.aa_id in hit
        )
        return [
            *_limited(rows),
            _row(gettext("The same AAs to other FIPs"), "", "", rest, affected=None),
        ]
    hit = set(cause.affected_fips)
    rows = [
        _row(named(pair.fip_id), pair.aa_id, pair.fip_id, sums, affected=pair.fip_id in hit)
        for pair, sums in calls.items()
        if pair.aa_id == aa
    ]
    rest = _sum(sums for pair, sums in calls.items() if pair.aa_id != aa and pair.fip_id in hit)
    return [
        *_limited(rows),
        _row(gettext("Other AAs to the same FIPs"), "", "", rest, affected=None),
    ]


def _of_pair(pair: Pair, calls: Mapping[Pair, Calls], named: Mapping[str, str]) -> list[Contrast]:
    """Returns the calls of a path, and of each of its ends with others; `named` is both by kind."""
    aa, fip = pair.aa_id, pair.fip_id
    to_others = _sum(sums for one, sums in calls.items() if one.aa_id == aa and one.fip_id != fip)
    of_others = _sum(sums for one, sums in calls.items() if one.fip_id == fip and one.aa_id != aa)
    own = calls.get(pair, (0, 0))
    return [
        _row(gettext("%(aa)s to %(fip)s", **named), aa, fip, own, affected=True),
        _row(gettext("%(aa)s to other FIPs", aa=named["aa"]), aa, "", to_others, affected=None),
        _row(gettext("Other AAs to %(fip)s", fip=named["fip"]), "", fip, of_others, affected=None),
    ]


def _row(text: str, aa_id: str, fip_id: str, sums: Calls, *, affected: bool | None) -> Contrast:
    return Contrast(text, aa_id, fip_id, *sums, affected)


def _sum(calls: Iterable[Calls]) -> Calls:
    found = list(calls)
    return sum(one[0] for one in found), sum(one[1] for one in found)


def _grouped(calls: Mapping[Pair, Calls], key: Callable[[Pair], str]) -> dict[str, Calls]:
    parts: dict[str, list[Calls]] = {}
    for pair, sums in calls.items():
        parts.setdefault(key(pair), []).append(sums)
    return {name: _sum(found) for name, found in parts.items()}


def _limited(rows: Iterable[Contrast]) -> list[Contrast]:
    """Returns the affected and the worst first; beyond the limit a row for each state."""
    ordered = sorted(rows, key=lambda row: (not row.affected, row.share is None, row.share or 0))
    rest = ordered[MAX_ROWS:]
    if not rest:
        return ordered
    more = []
    for affected in (True, False):
        alike = [row for row in rest if row.affected is affected]
        if alike:
            sums = _sum((row.succeeded, row.eligible) for row in alike)
            more.append(
                _row(gettext("%(count)s more", count=len(alike)), "", "", sums, affected=affected)
            )
    return [*ordered[:MAX_ROWS], *more]
