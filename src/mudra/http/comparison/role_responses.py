"""Comparisons as JSON; what is hidden is null."""

from typing import Annotated

from msgspec import Meta, Struct, field

from mudra.comparison.role_measures import Compared, RoleWeek
from mudra.comparison.weeks import week_name, week_of
from mudra.http.response.response_body import ResponseBody
from mudra.shared.time_text import iso_ms


class QuartileDetails(Struct, frozen=True):
    """Each the mean of the members around its place, rounded: no member's own value."""

    low: float
    median: float
    high: float


class MeasureDetails(Struct, rename="camel"):
    """One measure of one step."""

    step: str
    measure: str
    group: Annotated[str, Meta(examples=["6 to 9"])]
    """How many members have 100 calls of it, roughly."""
    quartiles: QuartileDetails | None
    mine: float | None
    place: str | None
    """best_quarter, better_half, worse_half or worst_quarter of the group."""


class ComparisonResponse(ResponseBody, kw_only=True):
    """A role in one week (Monday to Sunday, UTC)."""

    role: str
    week: Annotated[str, Meta(examples=["2026-W04"])]
    start: str = field(name="from")
    end: str = field(name="to")
    measures: list[MeasureDetails]


def comparison_response(found: RoleWeek, entity_id: str = "") -> ComparisonResponse:
    """Return a role's week as the wire has it, with the values of a member where it is named."""
    within = week_of(found.week)
    return ComparisonResponse(
        role=found.role.value,
        week=week_name(found.week),
        start=iso_ms(within.start),
        end=iso_ms(within.end),
        measures=[_measure(one) for one in found.compared(entity_id)],
    )


def _measure(one: Compared) -> MeasureDetails:
    found = one.quartiles
    return MeasureDetails(
        one.stage.value,
        one.kind.value,
        one.group,
        None if found is None else QuartileDetails(found.low, found.median, found.high),
        one.mine,
        one.place.value if one.place else None,
    )
