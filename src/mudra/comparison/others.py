"""The view of an AA on a FIP next to all others', so that "is it me?" has an answer. Pure.

Of the others only quartiles are shown, by the rule of quartiles.py: no AA can be found in them,
neither by name nor by its share.
"""

import enum
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from mudra.comparison.quartiles import Quartiles, quartiles, rounded_share
from mudra.metrics.health.health import GOOD_ABOVE_PERCENT, Status
from mudra.metrics.health.picture import ApiPicture, Row
from mudra.metrics.payload.catalogue import Tag

MIN_CALLS: Final = 20
"""Calls of an AA in the denominator, below which its share says little."""
_NEAR: Final = 0.05
"""Shares that differ less than this are alike."""
_MUCH_OF_MINE: Final = 0.5
"""Half of the others see the fault too where this part of the AA's own share fails for them."""


class Answer(enum.Enum):
    """The answer whether a fault is one's own, as far as the shares of the others say."""

    OTHERS_TOO = "others-too"
    ONLY_YOU = "only-you"
    SOME = "some"
    TOO_FEW = "too-few"


class WithOthers(Struct, frozen=True):
    """One API of a FIP: the AA's own share of success, and the quartiles of the others' shares."""

    fip_id: str
    api: ApiPicture
    mine: float
    others: int
    quartiles: Quartiles | None
    answer: Answer


def bad_apis(rows: Sequence[Row], most: int) -> list[tuple[str, ApiPicture]]:
    """Return the APIs that are BAD from this AA, of the FIPs that it calls most."""
    bad = {
        row.subject.fip_id: found
        for row in rows
        if (found := [one for one in row.apis if _is_bad(one)])
    }
    busiest = sorted(bad, key=lambda fip_id: -sum(_calls(one) for one in bad[fip_id]))[:most]
    return [(fip_id, one) for fip_id in busiest for one in bad[fip_id]]


def with_others(aa_id: str, fip_id: str, api: ApiPicture, by_aa: Sequence[Row]) -> WithOthers:
    """Compare one API of a FIP as an AA sees it with what each AA sees of it."""
    assert api.health is not None
    assert api.health.success is not None
    mine = api.health.success
    shares = sorted(
        one.health.success
        for row in by_aa
        if row.subject.aa_id != aa_id
        for one in row.apis
        if (one.tag, one.type) == (api.tag, api.type)
        if one.health is not None and one.health.success is not None
        if one.health.eligible >= MIN_CALLS
    )
    found = quartiles(shares)
    if found is None:
        return WithOthers(fip_id, api, mine, len(shares), None, Answer.TOO_FEW)
    found = rounded_share(found)
    if found.median - mine <= _NEAR or 1 - found.median >= _MUCH_OF_MINE * (1 - mine):
        answer = Answer.OTHERS_TOO
    else:
        # Others that are bad themselves are not well, however much better than this AA.
        others_well = found.low - mine > _NEAR and found.median * 100 > GOOD_ABOVE_PERCENT
        answer = Answer.ONLY_YOU if others_well else Answer.SOME
    return WithOthers(fip_id, api, mine, len(shares), found, answer)


def _is_bad(one: ApiPicture) -> bool:
    health = one.health
    judged = health is not None and health.status is Status.BAD and health.success is not None
    return one.tag is Tag.REQUESTS and judged


def _calls(one: ApiPicture) -> int:
    return one.health.total if one.health else 0
