"""An AA's health page about the FIPs that fail: is it me, or do all others see it too?"""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from mudra.comparison.others import Answer, WithOthers, bad_apis, with_others
from mudra.console.framework.page_context import PageContext
from mudra.localization.language import translatable
from mudra.metrics.health.api_names import api_name
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.health.picture import Row
from mudra.metrics.rollup.coverage import TimeRange

_MOST: Final = 5
"""FIPs: more are no answer to what fails now."""
_ANSWERS: Final = {
    Answer.OTHERS_TOO: translatable("Others see it too: it is not you."),
    Answer.ONLY_YOU: translatable("Others are well: it is on your side, or on your way to it."),
    Answer.SOME: translatable("Some others see it too."),
    Answer.TOO_FEW: translatable("Too few other AAs call it to tell."),
}


class ComparisonLine(Struct, frozen=True):
    """One API of a FIP, in percent; `low` to `high` is the middle half of the others."""

    fip_id: str
    name: str
    api: str
    mine: float
    others: int
    low: float | None
    median: float | None
    high: float | None
    answer: str


async def compared_with_others(
    page_context: PageContext, rows: Sequence[Row], within: TimeRange, code: str
) -> Sequence[ComparisonLine]:
    """Return the APIs that fail from this AA, next to what the other AAs see."""
    health, aa_id = page_context.tx.service(HealthService), page_context.member.entity_id
    bad = [(fip_id, api) for fip_id, api in bad_apis(rows, _MOST) if code in {"", api.type}]
    if not bad:
        return []
    seen = await health.seen_by_aas(
        within, {fip_id for fip_id, _ in bad}, {api.type for _, api in bad}
    )
    names = await health.names()
    found = (with_others(aa_id, fip_id, api, seen[fip_id]) for fip_id, api in bad)
    return [_line(one, names.get(one.fip_id, "")) for one in found]


def _line(one: WithOthers, name: str) -> ComparisonLine:
    found = one.quartiles
    return ComparisonLine(
        one.fip_id,
        name,
        api_name(one.api.type),
        one.mine * 100,
        one.others,
        None if found is None else found.low * 100,
        None if found is None else found.median * 100,
        None if found is None else found.high * 100,
        _ANSWERS[one.answer],
    )
