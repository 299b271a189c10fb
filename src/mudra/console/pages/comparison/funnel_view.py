"""A funnel as pages show it: its steps, the one that leaks, and tables by week and subject."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Final

from msgspec import Struct

from mudra.comparison.funnel import MIN_CALLS, Funnel, Stage, StepOfFunnel
from mudra.comparison.weeks import week_name, week_start
from mudra.console.framework.table import Column, Table
from mudra.localization.language import gettext, translatable
from mudra.metrics.health.health import GOOD_ABOVE_PERCENT
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.percentage import percentage

TREND: Final = timedelta(days=84)
"""The weeks of the table by week, with the one that is not over."""
_MUCH: Final = 100 - GOOD_ABOVE_PERCENT
"""A step that loses more, in percent, is marked: the network's rule of success is not kept."""
_NOTABLE: Final = 1.0
"""Percentage points above all from which a step is marked: less is the noise of thousands."""
STAGES: Final = {
    Stage.DISCOVERY: translatable("Discovery"),
    Stage.LINKING: translatable("Linking"),
    Stage.CONFIRM_LINKING: translatable("Confirm linking"),
    Stage.CONSENT: translatable("Consent"),
    Stage.FI_REQUEST: translatable("FI request"),
    Stage.DATA_READY: translatable("Data ready"),
    Stage.FI_FETCH: translatable("FI fetch"),
}


class StepLine(Struct, frozen=True):
    """One step; `width` is its part of the busiest step, of 100."""

    name: str
    step: StepOfFunnel
    lost: float | None
    """In percent, without 404: the largest of these is what loses most."""
    ratio: float | None
    width: int
    done_width: int
    leaks: bool


class Leak(Struct, frozen=True):
    """The step that loses most, in percent of what it begins."""

    name: str
    lost: int
    begun: int
    share: float


class FunnelView(Struct, frozen=True):
    """The steps of one funnel."""

    funnel: Funnel
    lines: Sequence[StepLine]
    leak: Leak | None


def view_of(funnel: Funnel) -> FunnelView:
    """Returns a funnel as pages show it."""
    most = max(one.begun for one in funnel.steps)
    lines = [_line(funnel, one, most) for one in funnel.steps]
    return FunnelView(funnel, lines, _leak(funnel))


def _line(funnel: Funnel, one: StepOfFunnel, most: int) -> StepLine:
    return StepLine(
        gettext(STAGES[one.stage]),
        one,
        percentage(one.lost_share, 1),
        funnel.ratio(one.stage),
        100 * one.begun // most if most else 0,
        100 * one.done // most if most else 0,
        funnel.leak is one.stage,
    )


def _leak(funnel: Funnel) -> Leak | None:
    stage = funnel.leak
    if stage is None:
        return None
    one = funnel.step(stage)
    assert one.lost_share is not None
    return Leak(gettext(STAGES[stage]), one.lost, one.begun, percentage(one.lost_share, 1))


def trend_of(within: TimeRange) -> TimeRange:
    """Returns the twelve weeks up to the one in which a time ends, and that one."""
    return TimeRange(week_start(within.end) - TREND, within.end)


def weeks_table() -> Table[Funnel]:
    """Returns the table by week: the share of each step that was lost, in percent."""
    return Table(
        "weeks",
        translatable("Weeks"),
        (
            Column[Funnel]("week", translatable("Week"), lambda one: week_name(one.start), "code"),
            *_LEAK,
            *_shares(),
        ),
        first_sort="-week",
    )


def _lost_there(one: Funnel) -> float | None:
    """Returns the share that the step which loses most loses, in percent."""
    return percentage(one.step(one.leak).lost_share, 1) if one.leak else None


_LEAK: Final = (
    Column[Funnel](
        "leak",
        translatable("Loses most"),
        lambda one: STAGES[one.leak] if one.leak else None,
        "tag",
        tone=lambda one: "warn" if (_lost_there(one) or 0) > _MUCH else "quiet",
        phone="state",
    ),
    Column[Funnel]("lost", translatable("Lost there, %"), _lost_there, "number", phone="figure"),
)


def subjects_table(
    name: str,
    title: str,
    subject: Callable[[Funnel], str],
    link: Callable[[Funnel], str] | None,
    names: Mapping[str, str],
    whole: Funnel,
) -> Table[Funnel]:
    """Returns the table by FIP or AA, those first that lose most above `whole`, all of them.

    It has the calls, and the share of each step that was lost.
    """
    return Table(
        name,
        title,
        (
            Column[Funnel](
                name,
                title,
                lambda one: names.get(subject(one)) or subject(one),
                link=link,
                also=subject,
            ),
            Column[Funnel](
                "leak",
                translatable("Worst step"),
                lambda one: STAGES[found[0]] if (found := _furthest(one, whole)) else None,
                "tag",
                tone=lambda one: (
                    "warn" if (found := _furthest(one, whole)) and found[1] >= _NOTABLE else "quiet"
                ),
                phone="state",
            ),
            Column[Funnel](
                "above",
                translatable("Points above all"),
                lambda one: found[1] if (found := _furthest(one, whole)) else None,
                "number",
                phone="figure",
            ),
            Column[Funnel](
                "calls",
                translatable("Calls"),
                lambda one: sum(step.begun for step in one.steps if _is_call(step)),
                "number",
                phone="figure",
            ),
            *_shares(),
            Column[Funnel]("id", translatable("Entity ID"), subject, "file"),
        ),
        first_sort="-above",
        rows=12,
    )


def _furthest(one: Funnel, whole: Funnel) -> tuple[Stage, float] | None:
    """Returns the step that loses most above all, by percentage points; None for none above."""
    above = [
        (stage, round(100 * ((mine.lost_share or 0) - (whole.step(stage).lost_share or 0)), 1))
        for stage in STAGES
        if (mine := one.step(stage)).begun >= MIN_CALLS
    ]
    found = max(above, key=lambda each: each[1], default=None)
    return found if found and found[1] > 0 else None


def _is_call(one: StepOfFunnel) -> bool:
    return one.stage is not Stage.DATA_READY


def _shares() -> Sequence[Column[Funnel]]:
    return [_share(stage, name) for stage, name in STAGES.items()]


def _share(stage: Stage, name: str) -> Column[Funnel]:
    return Column[Funnel](
        stage.value,
        name,
        lambda one: percentage(one.step(stage).lost_share, 1),
        "number",
        tone=lambda one: "bad" if _is_bad(one.step(stage)) else "quiet",
    )


def _is_bad(one: StepOfFunnel) -> bool:
    """Returns whether a step with enough calls loses more than the network's rule allows."""
    return one.begun >= MIN_CALLS and 100 * (one.lost_share or 0) > _MUCH


def facts_of(
    whole: Funnel, weeks: Sequence[Funnel], query: Mapping[str, str]
) -> Mapping[str, object]:
    """Returns what the template shows of one subject; weeks without a call are in CSV alone."""
    called = [week for week in weeks if any(step.begun for step in week.steps)]
    return {"shown": view_of(whole), "weeks": weeks_table().view(called, query)}
