"""The headline of the public status: the network in one sentence."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from mudra.console.pages.public.status.status_lines import LESSER, MAINTENANCE, STATES, FipState
from mudra.localization.language import current, gettext, translatable
from mudra.metrics.public_status.status_history import DayState

_POSSIBLY, _DEGRADED = LESSER.values()
_NOW: Final = {
    STATES[DayState.BAD][0]: translatable("%(who)s disrupted"),
    _POSSIBLY[0]: translatable("%(who)s possibly disrupted"),
    _DEGRADED[0]: translatable("%(who)s degraded"),
}
"""By the state of the institutions, the worst first."""
_BEFORE: Final = {
    STATES[DayState.PARTLY][0]: translatable("disrupted in the last 24 hours: %(who)s"),
    _POSSIBLY[1]: translatable("possibly disrupted in the last 24 hours: %(who)s"),
    _DEGRADED[1]: translatable("degraded in the last 24 hours: %(who)s"),
}


def headline(
    lines: Sequence[FipState], names: Mapping[str, str], silent_since: datetime | None
) -> tuple[str, str]:
    """Returns the headline of the network, with its tone.

    `names` has the name of each institution by its ID; `silent_since` is when the last report came,
    where that is too long ago to know anything.
    """
    if silent_since is not None:
        return gettext("No data"), "quiet"
    total = len(names)
    maintained = sum(1 for line in lines if line.state == MAINTENANCE)
    known = sum(1 for line in lines if line.tone != "quiet")
    for state, sentence in (_NOW | _BEFORE).items():
        if troubled := [line for line in lines if line.state == state]:
            named = who([names[line.fip.fip_id] for line in troubled], total)
            text = gettext(sentence, who=named)
            before = f"{_operational(known, total)}; {text}"
            return before if state in _BEFORE else text, troubled[0].tone
    if not known and maintained:
        return gettext(
            "%(count)s of %(total)s institutions in planned maintenance",
            count=current().number(maintained),
            total=current().number(total),
        ), "quiet"
    few = sum(1 for line in lines if line.state == STATES[DayState.TOO_FEW][0])
    if not known and few:
        return gettext("Too few calls in 24 hours to rate any institution"), "quiet"
    if not known:
        return gettext("No data for the last 24 hours"), "quiet"
    if known < total:
        return _known_in_part(known, maintained, few, total - known - maintained - few), "good"
    return gettext("All institutions operational"), "good"


def _operational(known: int, total: int) -> str:
    if known == total:
        return gettext("All institutions operational")
    return gettext(
        "%(count)s of %(total)s institutions operational",
        count=current().number(known),
        total=current().number(total),
    )


def _known_in_part(known: int, maintained: int, few: int, unknown: int) -> str:
    number = current().number
    apart = [gettext("too few calls to rate %(count)s", count=number(few))] if few else []
    if unknown:
        apart.append(gettext("no data for %(count)s", count=number(unknown)))
    if maintained:
        apart.append(gettext("%(count)s in planned maintenance", count=number(maintained)))
    return gettext(
        "%(count)s institutions operational; %(others)s",
        count=number(known),
        others=", ".join(apart),
    )


def who(names: Sequence[str], total: int) -> str:
    """Returns the name of the only institution, or how many of all there are."""
    if len(names) == 1:
        return names[0]
    number = current().number
    return gettext(
        "%(count)s of %(total)s institutions", count=number(len(names)), total=number(total)
    )
