"""The league table of a role: what each member delivered in a period, the best first.

Members see it where the operator says so; a member without a value comes last.
"""

from collections.abc import Iterable, Sequence

import msgspec
from msgspec import Struct

from mudra.levels.calculation import Figure
from mudra.levels.spans import Member
from mudra.levels.target import ALL_APIS, Measure
from mudra.shared.entity_type import EntityType
from mudra.shared.refusal import PlainRefusal, RefusalKind

NO_LEAGUE = PlainRefusal(
    RefusalKind.NOT_FOUND, "the operator of this network shows no league table to members"
)


class Place(Struct, frozen=True, rename="camel"):
    """The place of a member; members with the same values share one."""

    place: int
    entity_id: str
    name: str
    availability: float | None
    success: float | None
    calls: int
    missed: int
    """Targets over all calls that were missed."""


class _Part(Struct):
    """The part of a report that a league table needs."""

    member: Member
    figures: tuple[Figure, ...]


def league_of(texts: Iterable[bytes], role: EntityType) -> Sequence[Place]:
    """Returns the members of a role by availability, then success, from their signed reports."""
    parts = (msgspec.json.decode(one, type=_Part) for one in texts)
    rows = [_row(one) for one in parts if one.member.role is role]
    rows.sort(key=_order)
    found: list[Place] = []
    for number, row in enumerate(rows, 1):
        same = found and _order(found[-1])[:2] == _order(row)[:2]
        found.append(msgspec.structs.replace(row, place=found[-1].place if same else number))
    return found


def _row(one: _Part) -> Place:
    known = {each.measure: each for each in one.figures if each.api == ALL_APIS}
    up, success = known.get(Measure.AVAILABILITY), known.get(Measure.SUCCESS)
    return Place(
        0,
        one.member.entity_id,
        one.member.name,
        up.value if up else None,
        success.value if success else None,
        up.whole if up else 0,
        sum(each.met is False for each in known.values()),
    )


def _order(one: Place) -> tuple[float, float, str]:
    up, success = one.availability, one.success
    return -(-1.0 if up is None else up), -(-1.0 if success is None else success), one.entity_id
