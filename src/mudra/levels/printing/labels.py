"""The texts of a report's numbers, for pages and for print, in the current language."""

from decimal import ROUND_DOWN, Decimal
from typing import Final

from mudra.levels.calculation import Figure
from mudra.levels.evidence import Fate
from mudra.levels.report import Change
from mudra.levels.target import ALL_APIS, Measure
from mudra.localization.language import current, gettext, translatable
from mudra.metrics.health.api_names import api_name

MEASURES: Final = {
    Measure.AVAILABILITY: translatable("Availability"),
    Measure.SUCCESS: translatable("Success"),
    Measure.P95: translatable("95 % took at most"),
    Measure.P99: translatable("99 % took at most"),
    Measure.READY: translatable("95 % had data within"),
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
NUMBERS: Final = {
    "value": translatable("Value"),
    "part": translatable("Part"),
    "whole": translatable("Whole"),
    "target": translatable("Target"),
}
"""The numbers of a figure that may change, as the CSV and the how-to name them."""
COLUMNS: Final = (Measure.AVAILABILITY, Measure.SUCCESS, Measure.P95, Measure.P99)
"""The measures that are a column of the table by API; the others are a list."""
NOTHING: Final = "\N{EN DASH}"
BARS_FROM: Final = 90.0
"""Bars of shares begin at 90 percent."""
_MINUTES: Final = 10
_MINUTE_MS: Final = 60_000
_VALUE_PLACES: Final = 2
_SIGNED_PLACES: Final = 4
"""Of shares in the signed text."""


def columns() -> list[str]:
    """Returns the titles of the numbers of an API."""
    return [gettext(MEASURES[one]) for one in COLUMNS]


def measure_text(measure: str) -> str:
    """Returns the name of a measure; an unknown one as it is."""
    return gettext(MEASURES[Measure(measure)]) if measure in {*Measure} else measure


def fate_text(fate: Fate) -> str:
    """Returns what becomes of the calls of a span."""
    return gettext(FATES[fate])


def api_text(api: str) -> str:
    """Returns the name of an API, or of all calls for customers together."""
    return gettext("All calls for customers") if api == ALL_APIS else api_name(api)


def value_text(one: Figure) -> str:
    """Returns a number with its unit; shares are rounded down."""
    return amount_text(one.measure, one.value, _VALUE_PLACES)


def target_text(one: Figure) -> str:
    """Returns the target of a number; empty without one."""
    return "" if one.target is None else exact_text(one.measure, one.target)


def down_text(one: Figure | None) -> str:
    """Returns the minutes of the member's own outages; empty where they are not measured."""
    if one is None or not one.windows:
        return ""
    minutes = current().number(one.down_windows * _MINUTES)
    return gettext("%(minutes)s min", minutes=minutes)


def bar_part(share: float) -> float:
    """Returns the part of a bar's width that a share in percent takes, from 0 to 1."""
    return max(share - BARS_FROM, 0.0) / (100 - BARS_FROM)


def exact_text(measure: Measure, value: float) -> str:
    """Returns a value with all decimals that it has, of a share one at least: a target."""
    if measure.in_ms:
        return _time_text(Decimal(str(value)))
    exponent = Decimal(str(value)).normalize().as_tuple().exponent
    assert isinstance(exponent, int), value
    return amount_text(measure, value, min(max(-exponent, 1), _SIGNED_PLACES))


def _time_text(ms: Decimal) -> str:
    """Returns a time as people say it: whole minutes, else seconds with the decimals it has."""
    if ms >= _MINUTE_MS and ms % _MINUTE_MS == 0:
        return gettext("%(minutes)s min", minutes=current().number(int(ms // _MINUTE_MS)))
    seconds = (ms / 1000).normalize()
    exponent = seconds.as_tuple().exponent
    assert isinstance(exponent, int), ms
    return gettext("%(seconds)s s", seconds=current().number(float(seconds), max(-exponent, 0)))


def amount_text(measure: Measure, value: float | None, places: int) -> str:
    """Returns a value of a measure: seconds with two decimals, a share with so many, cut off."""
    if value is None:
        return NOTHING
    if measure.in_ms:
        return gettext("%(seconds)s s", seconds=current().number(value / 1000, 2))
    share = Decimal(str(value)).quantize(Decimal(1).scaleb(-places), ROUND_DOWN)
    return f"{current().number(float(share), places)} %"


def change_texts(one: Change) -> list[str]:
    """Returns the cells of a number that changed: measure, API, which number, before, after."""
    name = gettext(NUMBERS[one.number])
    both = (_changed_text(one, each) for each in (one.before, one.after))
    return [measure_text(one.measure), api_text(one.api), name, *both]


def _changed_text(one: Change, number: float | None) -> str:
    if number is None:
        return NOTHING
    measure = Measure(one.measure)
    if one.number in {"part", "whole"}:
        return current().number(number)
    if measure.in_ms:
        return gettext("%(number)s ms", number=current().number(number))
    return amount_text(measure, number, _SIGNED_PLACES)
