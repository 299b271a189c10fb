"""The form of a silence: operators begin any with it, members their own planned maintenances."""

from collections.abc import Container, Mapping
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from mudra.console.framework.console_errors import page_problem, refusal_text
from mudra.console.framework.page import Fields
from mudra.console.framework.page_zone import zone_of_form
from mudra.http.response.http_refusals import InvalidField
from mudra.localization.language import translatable
from mudra.metrics.incidents.silence import MAX_LEAD_TIME, MAX_REASON
from mudra.shared.refusal import Refusal

LENGTHS: Final[Mapping[int, str]] = {
    1: translatable("1 hour"),
    2: translatable("2 hours"),
    4: translatable("4 hours"),
    12: translatable("12 hours"),
    24: translatable("1 day"),
    72: translatable("3 days"),
    168: translatable("1 week"),
    720: translatable("30 days"),
}
"""Hours, and their names."""
_DIGITS: Final = 3
_NAMES: Final = ("entity_id", "peer_id", "type", "begins", "hours", "reason", "maintenance")


class SilenceForm(Struct, frozen=True):
    """The typed values of the form, and why it was refused."""

    entity_id: str = ""
    peer_id: str = ""
    type: str = ""
    begins: str = ""
    hours: str = "4"
    reason: str = ""
    maintenance: str = ""
    problem: str = ""
    status: int = 200


class TypedTimes(Struct, frozen=True):
    """The begin (None for none) and the length that were typed."""

    begins: datetime | None
    length: timedelta | None
    """None only where it may be left out."""

    def ends(self, now: datetime) -> datetime:
        """Returns the end of a silence that begins then, or now."""
        # A start that is refused as too late may be one that no duration can be added to.
        begins = min(max(self.begins or now, now), now + 2 * MAX_LEAD_TIME)
        return begins + (self.length or timedelta())


def times_of(
    fields: Fields, lengths: Container[int], *, optional: bool = False
) -> TypedTimes | InvalidField:
    """Returns the times of a form, in the zone that it names; the length may be `optional`."""
    hours, typed = fields.get("hours", ""), fields.get("begins", "").strip()
    length = int(hours) if hours.isascii() and hours.isdigit() and len(hours) <= _DIGITS else None
    if length not in lengths and (hours or not optional):
        allowed = ", ".join(str(one) for one in LENGTHS if one in lengths)
        return InvalidField(f"hours must be one of {allowed}")
    zone = zone_of_form(fields)
    if isinstance(zone, InvalidField):
        return zone
    begins = zone.instant(typed) if typed else None
    if typed and begins is None:
        return InvalidField(translatable("start must be a date and time such as 2026-01-31T22:30"))
    return TypedTimes(begins, None if length is None else timedelta(hours=length))


def refused_form(fields: Fields, refusal: Refusal) -> SilenceForm:
    """Returns the form with what was typed, and what is wrong with it."""
    typed = {name: fields.get(name, "")[:MAX_REASON] for name in _NAMES}
    problem, status = refusal_text(refusal), page_problem(refusal).status
    return SilenceForm(**typed, problem=problem, status=status)
