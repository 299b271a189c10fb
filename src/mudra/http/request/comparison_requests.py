"""Requests about comparisons, as the wire carries them."""

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct, field

from mudra.comparison.roles import KEYS
from mudra.http.request.health_requests import Entity, PictureParameters, TimeParameters
from mudra.metrics.health.picture import Grouping

WEEKS: Final = "weeks"
BY: Final[Mapping[str, Grouping]] = {
    "network": Grouping.NETWORK,
    "fips": Grouping.FIP,
    "aas": Grouping.AA,
    "pairs": Grouping.PAIR,
    WEEKS: Grouping.NETWORK,
}
"""Groupings of an operator, by the end of its address."""
OWN_BY: Final[Mapping[str, Grouping]] = {
    "all": Grouping.NETWORK,
    "counterparts": Grouping.PAIR,
    WEEKS: Grouping.NETWORK,
}
"""The same of a member."""
ROLES: Final = tuple(role.value for role in KEYS)


class FunnelParameters(PictureParameters, frozen=True):
    """Calls of an AA, a FIP or all, in a time (by default the last seven days), and the format."""


class OwnFunnelParameters(TimeParameters, frozen=True):
    """A time (by default the last seven days), and the format."""

    format: Annotated[Literal["json", "csv"], Meta(description="json or csv")] = "json"


class WeekParameters(Struct, frozen=True):
    """A week; by default the last one that no report can change any more."""

    week: Annotated[
        str,
        Meta(pattern=r"^([0-9]{4}-W[0-9]{2})?\Z", description="a week of ISO 8601, as 2026-W46"),
    ] = ""


class SubjectParameters(Struct, frozen=True):
    """Calls of an AA, to a FIP, of both, or all."""

    aa_id: Entity = field(name="aaId", default="")
    fip_id: Entity = field(name="fipId", default="")
