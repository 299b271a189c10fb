"""A funnel as pages show it: its steps, the one that leaks, and tables by week and subject."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Final, TypeVar

from msgspec import Struct

from mudra.comparison.funnel import MIN_CALLS, Above, Funnel, Stage, StepOfFunnel, furthest
from mudra.comparison.weeks import week_name, week_start
from mudra.console.framework.table import Column, Table
from mudra.localization.language import gettext, translatable
from mudra.metrics.health.health import GOOD_ABOVE_PERCENT
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.percentage import percentage

R = TypeVar("R")
TREND: Final = timedelta(days=84)
"""The weeks of the table by week, with the one that is not over."""
_MUCH: Final = 100 - GOOD_ABOVE_PERCENT
"""A step that loses more, in percent, is marked: the network's rule of success is not kept."""
_NOTABLE: Final = 1.0
"""Percentage points above the network from which a step is marked."""
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
    """In percent, without 404."""
    network: float | None
    """What the whole network loses there, in percent; None where it is not compared."""
    ratio: float | None
    width: int
    done_width: int
    tag: str
    tone: str


class Leak(Struct, frozen=True):
    """The step that a funnel is headed by, in percent of what it begins."""

    name: str
    lost: int
    begun: int
    share: float
    above: float | None = None
    """Percentage points above the network; None where it is not compared."""
    network: float | None = None


class FunnelView(Struct, frozen=True):
    """The steps of one funnel."""

    funnel: Funnel
    lines: Sequence[StepLine]
    leak: Leak | None
    is_compared: bool
    """Whether its steps have those of the network next to them."""

    @property
    def has_refused(self) -> bool:
        """Returns whether any step has a 4xx that is no 404."""
        return any(one.refused for one in self.funnel.steps)


def view_of(funnel: Funnel, network: Funnel | None = None) -> FunnelView:
    """Returns a funnel as pages show it.

    Next to the network its worst step is the one furthest above it, as in the lists of FIPs and
    AAs. The network itself, and members, who do not see it, have the step that loses most.
    """
    most = max(one.begun for one in funnel.steps)
    above = furthest(funnel, network) if network else None
    if network:
        named = above.stage if above else None
        tag = translatable("worst step"), _tone(above)
    else:
        named, tag = funnel.leak, (translatable("loses most"), "warn")
    lines = [
        StepLine(
            gettext(STAGES[one.stage]),
            one,
            percentage(one.lost_share, 1),
            percentage(network.step(one.stage).lost_share, 1) if network else None,
            funnel.ratio(one.stage),
            100 * one.begun // most if most else 0,
            100 * one.done // most if most else 0,
            *(tag if one.stage is named else ("", "")),
        )
        for one in funnel.steps
    ]
    shown = next((one for one in lines if one.step.stage is named), None)
    return FunnelView(funnel, lines, _leak(shown, above), network is not None)


def _leak(line: StepLine | None, above: Above | None) -> Leak | None:
    if line is None:
        return None
    one = line.step
    assert line.lost is not None  # it has calls
    points = above.points if above else None
    return Leak(line.name, one.lost, one.begun, line.lost, points, line.network)


def _tone(above: Above | None) -> str:
    return "warn" if above and above.points >= _NOTABLE else "quiet"


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
            *_shares(_itself),
        ),
        first_sort="-week",
    )


def _itself(one: Funnel) -> Funnel:
    return one


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


class Subject(Struct, frozen=True):
    """One row of a table by FIP or AA: its funnel, and its worst step."""

    funnel: Funnel
    above: Above | None


def subjects_of(found: Sequence[Funnel], whole: Funnel) -> Sequence[Subject]:
    """Returns the rows of a table by FIP or AA, each next to `whole`, which is all of them."""
    return [Subject(one, furthest(one, whole)) for one in found]


def subjects_table(
    name: str, link: Callable[[Funnel], str] | None, names: Mapping[str, str]
) -> Table[Subject]:
    """Returns the table by `fip` or `aa`, those first that lose most above the funnel of all.

    It has the calls, and the share of each step that was lost.
    """
    title, subject = name.upper(), _fip if name == "fip" else _aa
    return Table(
        name,
        title,
        (
            Column[Subject](
                name,
                title,
                lambda one: names.get(subject(one.funnel)) or subject(one.funnel),
                link=None if link is None else lambda one: link(one.funnel),
                also=lambda one: subject(one.funnel),
            ),
            Column[Subject](
                "leak",
                translatable("Worst step"),
                lambda one: STAGES[one.above.stage] if one.above else None,
                "tag",
                tone=lambda one: _tone(one.above),
                phone="state",
            ),
            Column[Subject](
                "above",
                translatable("Points above"),
                lambda one: one.above.points if one.above else None,
                "number",
                phone="figure",
            ),
            Column[Subject](
                "calls",
                translatable("Calls"),
                lambda one: sum(step.begun for step in one.funnel.steps if _is_call(step)),
                "number",
                phone="figure",
            ),
            *_shares(lambda one: one.funnel),
            Column[Subject](
                "id", translatable("Entity ID"), lambda one: subject(one.funnel), "file"
            ),
        ),
        first_sort="-above",
        rows=12,
    )


def _fip(one: Funnel) -> str:
    return one.fip_id


def _aa(one: Funnel) -> str:
    return one.aa_id


def _is_call(one: StepOfFunnel) -> bool:
    return one.stage is not Stage.DATA_READY


def _shares(funnel: Callable[[R], Funnel]) -> Sequence[Column[R]]:
    return [_share(stage, name, funnel) for stage, name in STAGES.items()]


def _share(stage: Stage, name: str, funnel: Callable[[R], Funnel]) -> Column[R]:
    return Column[R](
        stage.value,
        name,
        lambda one: percentage(funnel(one).step(stage).lost_share, 1),
        "number",
        tone=lambda one: "bad" if _is_bad(funnel(one).step(stage)) else "quiet",
    )


def _is_bad(one: StepOfFunnel) -> bool:
    """Returns whether a step with enough calls loses more than the network's rule allows."""
    return one.begun >= MIN_CALLS and (percentage(one.lost_share, 1) or 0) > _MUCH


def facts_of(
    whole: Funnel,
    weeks: Sequence[Funnel],
    query: Mapping[str, str],
    network: Funnel | None = None,
) -> Mapping[str, object]:
    """Returns what the template shows of one subject; weeks without a call are in CSV alone."""
    called = [week for week in weeks if any(step.begun for step in week.steps)]
    return {"shown": view_of(whole, network), "weeks": weeks_table().view(called, query)}
