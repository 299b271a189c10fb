"""A report as pages show it: rows by API, and bars that print in black and white."""

from collections.abc import Mapping, Sequence
from typing import Final

from markupsafe import Markup
from msgspec import Struct

from mudra.levels.calculation import Figure
from mudra.levels.evidence import Fate
from mudra.levels.report import Report
from mudra.levels.target import ALL_APIS, Measure
from mudra.localization.language import current, gettext, translatable
from mudra.metrics.health.api_names import api_name

MEASURES: Final = {
    Measure.AVAILABILITY: translatable("Availability"),
    Measure.SUCCESS: translatable("Success"),
    Measure.P95: translatable("95 % took at most"),
    Measure.P99: translatable("99 % took at most"),
    Measure.READY: translatable("Time to data, 95 %"),
    Measure.DATA: translatable("FI requests that ended with data"),
    Measure.MISSING: translatable("Missing reports"),
}
FATES: Final = {
    Fate.OWN: translatable("Outage: failed calls count against the member"),
    Fate.ELSEWHERE: translatable("Cause elsewhere: left out"),
    Fate.UNSURE: translatable("Cause not certain: left out"),
    Fate.MAINTENANCE: translatable("Planned maintenance: left out"),
    Fate.LEFT_OUT: translatable("Decision about a dispute: left out"),
    Fate.EXCUSED: translatable("Decision about a dispute: failed calls left out"),
}
_COLUMNS: Final = (Measure.AVAILABILITY, Measure.SUCCESS, Measure.P95, Measure.P99)
NOTHING: Final = "\N{EN DASH}"
_WIDTH: Final = 300
_LOWEST: Final = 90.0
_MINUTES: Final = 10
_FILLED: Final = Markup('<rect x="1" y="4" width="{:.1f}" height="10" fill="currentColor"/>')
_OUTLINE: Final = Markup(
    '<rect x="1" y="4" width="{:.1f}" height="10" fill="none" stroke="currentColor"'
    ' stroke-dasharray="3 2"/>'
)
_TARGET: Final = Markup('<path d="M{:.1f} 0V18" stroke="currentColor" stroke-width="2"/>')
_DRAWING: Final = Markup(
    '<svg viewBox="0 0 {} 18" width="{}" height="18" aria-hidden="true">{}{}</svg>'
)


class Shown(Struct, frozen=True):
    """One number: its text, that of its target, and whether that is met."""

    value: str
    target: str
    met: bool | None
    whole: int
    left_out: int
    uncertain: int
    reporters: int


class ApiRow(Struct, frozen=True):
    """The numbers of one API."""

    name: str
    numbers: Sequence[Shown | None]
    down: str
    bar: Markup


class Other(Struct, frozen=True):
    """A number that is not of one API."""

    name: str
    shown: Shown


def columns() -> list[str]:
    """Returns the titles of the numbers of an API."""
    return [gettext(MEASURES[one]) for one in _COLUMNS]


def api_rows(report: Report) -> list[ApiRow]:
    """Returns a row for each API, all of them together first."""
    by_api: dict[str, dict[Measure, Figure]] = {}
    for one in report.figures:
        if one.measure in _COLUMNS:
            by_api.setdefault(one.api, {})[one.measure] = one
    return [_row(api, found) for api, found in by_api.items()]


def others(report: Report) -> list[Other]:
    """Returns the numbers that are not of one API."""
    return [
        Other(gettext(MEASURES[one.measure]), _shown(one))
        for one in report.figures
        if one.measure not in _COLUMNS
    ]


def fate_text(fate: Fate) -> str:
    """Returns what becomes of the calls of a span."""
    return gettext(FATES[fate])


def _row(api: str, found: Mapping[Measure, Figure]) -> ApiRow:
    name = gettext("All calls for customers") if api == ALL_APIS else api_name(api)
    numbers = [_shown(found[one]) if one in found else None for one in _COLUMNS]
    up = found.get(Measure.AVAILABILITY)
    down = ""
    if up is not None and up.windows:
        minutes = current().number(up.down_windows * _MINUTES)
        down = gettext("%(minutes)s min", minutes=minutes)
    return ApiRow(name, numbers, down, _bar(up or found[Measure.SUCCESS]))


def _shown(one: Figure) -> Shown:
    return Shown(
        _text(one.measure, one.value, 2),
        "" if one.target is None else _text(one.measure, one.target, 1),
        one.met,
        one.whole,
        one.left_out,
        one.uncertain,
        one.reporters,
    )


def _text(measure: Measure, value: float | None, places: int) -> str:
    if value is None:
        return NOTHING
    if measure.in_ms:
        return gettext("%(seconds)s s", seconds=current().number(value / 1000, 2))
    scale = 10**places
    return f"{current().number(int(value * scale) / scale, places)} %"


def _bar(one: Figure) -> Markup:
    """Draws a share from 90 % on: filled where the target is met, an outline where it is missed."""
    if one.value is None:
        return Markup("")
    length = max(one.value - _LOWEST, 0.0) / (100 - _LOWEST) * _WIDTH
    drawn = (_OUTLINE if one.met is False else _FILLED).format(length)
    mark = Markup("")
    if one.target is not None and one.target >= _LOWEST:
        mark = _TARGET.format((one.target - _LOWEST) / (100 - _LOWEST) * _WIDTH + 1)
    return _DRAWING.format(_WIDTH + 4, _WIDTH // 2, drawn, mark)
