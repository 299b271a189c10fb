"""Measures of a role: a share and a time for each step of the funnel. Pure."""

import enum
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from mudra.comparison.funnel import MIN_CALLS, TYPE_OF, Stage, counted
from mudra.comparison.quartiles import (
    Quartiles,
    of_group,
    rounded_share,
    rounded_time,
    size_band,
)
from mudra.comparison.roles import KEYS
from mudra.metrics.payload.catalogue import RequestType, Tag
from mudra.metrics.sums.totals import Totals
from mudra.shared.entity_type import EntityType

TIMED: Final = {**TYPE_OF, Stage.DATA_READY: RequestType.FI_READY_TIME}
"""The type whose response time is that of a step; of data ready the time until it is."""


class Kind(enum.StrEnum):
    """The kinds of measures of a step."""

    DONE_SHARE = "done_share"
    """From 0 to 1: more is better."""
    P95_MS = "p95_ms"
    """An estimate in milliseconds: less is better."""


class Place(enum.StrEnum):
    """Where a member is in its role, by the quartiles that all see."""

    BEST_QUARTER = "best_quarter"
    BETTER_HALF = "better_half"
    WORSE_HALF = "worse_half"
    WORST_QUARTER = "worst_quarter"


Measure = tuple[Stage, Kind]
MEASURES: Final[Sequence[Measure]] = tuple((stage, kind) for kind in Kind for stage in Stage)
Values = Mapping[Measure, Mapping[str, float]]
"""The value of each member that has 100 calls of the step, by measure."""


class Compared(Struct, frozen=True):
    """One measure of a week: what all members of the role see of each other, and the own value."""

    stage: Stage
    kind: Kind
    group: str
    """How many members have calls enough, roughly."""
    quartiles: Quartiles | None
    """None where any member would be compared with fewer than five others."""
    mine: float | None = None
    place: Place | None = None


class RoleWeek(Struct, frozen=True):
    """A role in one week."""

    role: EntityType
    week: datetime
    values: Values

    def compared(self, entity_id: str = "") -> Sequence[Compared]:
        """Returns each measure, with the value of a member where it is named.

        The quartiles depend on the week alone, never on who asks: two questions have no difference.
        """
        return [self._compared(one, entity_id) for one in MEASURES]

    def _compared(self, measure: Measure, entity_id: str) -> Compared:
        stage, kind = measure
        values = self.values[measure]
        found = of_group(values.values())
        if found is not None:
            found = rounded_share(found) if kind is Kind.DONE_SHARE else rounded_time(found)
        mine = values.get(entity_id)
        place = None if found is None or mine is None else place_of(mine, found, kind)
        return Compared(stage, kind, size_band(len(values)), found, mine, place)


def place_of(mine: float, among: Quartiles, kind: Kind) -> Place:
    """Returns where a value is among the quartiles; on one of them it is on the better side."""
    sign = 1 if kind is Kind.DONE_SHARE else -1
    low, high = (among.low, among.high) if sign > 0 else (among.high, among.low)
    if sign * (mine - high) >= 0:
        return Place.BEST_QUARTER
    if sign * (mine - among.median) >= 0:
        return Place.BETTER_HALF
    return Place.WORSE_HALF if sign * (mine - low) >= 0 else Place.WORST_QUARTER


def values_of(totals: Totals, role: EntityType, members: Collection[str] | None) -> Values:
    """Returns the values of each member of a role; of these only, where they are named."""
    found: dict[Measure, dict[str, float]] = {measure: {} for measure in MEASURES}
    key = KEYS[role]
    for one in counted(totals, key):
        entity_id = one.fip_id if role is EntityType.FIP else one.aa_id
        for step in one.steps:
            share = step.done_share
            if share is not None and step.begun >= MIN_CALLS:
                found[step.stage, Kind.DONE_SHARE][entity_id] = share
    sums = totals.only(Tag.REQUESTS, TIMED.values()).by(key, "type")
    stages = {str(code): stage for stage, code in TIMED.items()}
    ids = sums.fip_ids() if role is EntityType.FIP else sums.aa_ids()
    for entity_id, code, time in zip(ids, sums.codes(), sums.times(), strict=True):
        if time is not None and time.samples >= MIN_CALLS:
            found[stages[code], Kind.P95_MS][entity_id] = float(time.p95)
    if members is None:
        return found
    return {
        measure: {one: value for one, value in values.items() if one in members}
        for measure, values in found.items()
    }
