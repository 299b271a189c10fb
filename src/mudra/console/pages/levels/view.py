"""A report and budgets as pages show them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from markupsafe import Markup
from msgspec import Struct

from mudra.levels.budgets.burn_rule import Outlook, reached_percent, shown_allowed
from mudra.levels.budgets.burn_store import StoredBurn
from mudra.levels.calculation import Figure
from mudra.levels.printing import labels
from mudra.levels.report import Report
from mudra.levels.target import ALL_APIS, Measure, Target
from mudra.localization.language import current, gettext, translatable

_WIDTH: Final = 300
_FILLED: Final = Markup('<rect x="1" y="4" width="{:.1f}" height="10" fill="currentColor"/>')
_DRAWING: Final = Markup(
    '<svg class="level {}" viewBox="0 0 {} 18" width="{}" height="18" aria-hidden="true">{}{}</svg>'
)
_TRACK: Final = Markup('<rect class="track" x="1" y="4" width="{}" height="10"/>').format(_WIDTH)
_PLACES: Final = 2
_FAILURES: Final = {
    Measure.AVAILABILITY: translatable(
        "%(missed)s (%(failures)s of %(whole)s calls failed in outages)"
    ),
    Measure.SUCCESS: translatable("%(missed)s (%(failures)s of %(whole)s calls failed)"),
    Measure.DATA: translatable(
        "%(missed)s (%(failures)s of %(whole)s FI requests ended without data)"
    ),
    Measure.MISSING: translatable("%(missed)s (%(failures)s of %(whole)s reports are missing)"),
}
"""What the failures of a share are."""
_WHOLE: Final = 100
"""Percent."""
_MONTHS: Final = 24
"""Offered for a report, the newest first."""


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
    was_down: bool
    comes_first: bool
    """Of all APIs together, or one that missed a target; the others fold."""


class Other(Struct, frozen=True):
    """A number that is not of one API."""

    name: str
    shown: Shown


def api_rows(report: Report) -> list[ApiRow]:
    """Returns a row for each API, all of them together first."""
    return [_row(api, found) for api, found in report.by_api(labels.COLUMNS).items()]


def missed_texts(report: Report) -> list[str]:
    """Returns every target that was missed, as many as the tables mark, each with its failures."""
    return [_missed_text(one) for one in report.figures if one.met is False]


def _missed_text(one: Figure) -> str:
    measure, value = gettext(labels.MEASURES[one.measure]), labels.value_text(one)
    target = labels.target_text(one)
    if one.measure in labels.COLUMNS:
        text = gettext(
            "%(api)s, %(measure)s: %(value)s, target %(target)s",
            api=labels.api_text(one.api),
            measure=f"{measure[:1].lower()}{measure[1:]}",
            value=value,
            target=target,
        )
    else:
        text = gettext(
            "%(measure)s: %(value)s, target %(target)s",
            measure=measure,
            value=value,
            target=target,
        )
    if one.measure.in_ms:
        return text
    failures = one.part if one.measure.at_most else one.whole - one.part
    return gettext(
        _FAILURES[one.measure],
        missed=text,
        failures=current().number(failures),
        whole=current().number(one.whole),
    )


def others(report: Report) -> list[Other]:
    """Returns the numbers that are not of one API."""
    return [
        Other(gettext(labels.MEASURES[one.measure]), _shown(one))
        for one in report.figures
        if one.measure not in labels.COLUMNS
    ]


def _row(api: str, found: Mapping[Measure, Figure]) -> ApiRow:
    numbers = [_shown(found[one]) if one in found else None for one in labels.COLUMNS]
    up = found.get(Measure.AVAILABILITY)
    name = labels.api_text(api)
    return ApiRow(
        f"{name[:1].upper()}{name[1:]}",
        numbers,
        labels.down_text(up),
        bool(up and up.down_windows),
        api == ALL_APIS or any(one.met is False for one in found.values()),
    )


def _shown(one: Figure) -> Shown:
    return Shown(
        labels.value_text(one),
        labels.target_text(one),
        one.met,
        one.whole,
        one.left_out,
        one.uncertain,
        one.reporters,
    )


class BudgetRow(Struct, frozen=True):
    """An error budget: what is left of it or how far it is passed, and how fast it goes."""

    entity_id: str
    measure: str
    reached: str
    target: str
    left: str
    spent: int
    allowed: str
    day_rate: str
    week_rate: str
    gone_at: datetime | None
    outlook: str
    tone: str
    since: datetime
    """The beginning of the month."""
    until: datetime
    """The end of the last window that is counted."""
    bar: Markup
    of_reports: bool
    """Whether it is of missing reports: a window has two."""


_OUTLOOKS: Final = {
    Outlook.WITHIN: (translatable("lasts the month"), "good"),
    Outlook.BURNING: (translatable("will not last"), "warn"),
    Outlook.GONE: (translatable("used up"), "bad"),
}


def budget_rows(found: Sequence[StoredBurn]) -> list[BudgetRow]:
    """Returns the rows of budgets."""
    return [_budget_row(one) for one in found]


def _budget_row(one: StoredBurn) -> BudgetRow:
    burn, number = one.burn, current().number
    text, tone = _OUTLOOKS[burn.outlook]
    left = burn.left_percent
    length = _WIDTH if left <= 0 else min(left, 100.0) / 100 * _WIDTH
    return BudgetRow(
        one.entity_id,
        labels.measure_text(burn.measure),
        labels.amount_text(burn.measure, reached_percent(burn), _PLACES),
        ("≤ " if burn.measure.at_most else "") + labels.exact_text(burn.measure, burn.target),
        _left_text(left),
        burn.spent,
        number(*shown_allowed(burn)),
        number(burn.day_rate, 1),
        number(burn.week_rate, 1),
        burn.gone_at,
        gettext(text),
        tone,
        one.month,
        one.until,
        _DRAWING.format(tone, _WIDTH + 4, _WIDTH // 2, _TRACK, _FILLED.format(length)),
        burn.measure is Measure.MISSING,
    )


def _left_text(left: float) -> str:
    """Returns what is left of a budget; of one spent twice and more, how many times it is spent."""
    number = current().number
    if left >= 0:
        return f"{number(left, 1)} %"
    if left > -_WHOLE:
        return gettext("over by %(share)s %%", share=number(-left))
    return gettext("spent %(times)s times", times=number(1 - left / _WHOLE, 1))


class TargetRow(Struct, frozen=True):
    """A target in the words of a page."""

    target: Target
    measure: str
    value: str
    is_shipped: bool
    """Comes with Mudra: no operator has set it."""


def target_rows(found: Sequence[Target]) -> list[TargetRow]:
    """Returns the rows of targets."""
    return [
        TargetRow(
            one,
            labels.measure_text(one.measure),
            labels.exact_text(one.measure, one.value),
            one.target_id.startswith("shipped"),
        )
        for one in found
    ]


def months(last: str) -> list[str]:
    """Returns the months up to one, such as 2026-03, the newest first."""
    year, month = map(int, last.split("-"))
    places = [12 * year + month - 1 - back for back in range(_MONTHS)]
    return [f"{place // 12}-{place % 12 + 1:02d}" for place in places]


_REFUSALS: Final = (
    translatable("no report of this ID"),
    translatable("only FIPs, AAs and the network (an empty entityId) have reports"),
    translatable("50 reports of this member were made within 24 hours: read one of these, or wait"),
    translatable("month must be such as 2026-03"),
    translatable("end must be later than start, and not later than now"),
    translatable("the operator of this network shows no league table to members"),
    translatable(
        "this node makes no PDF: its operator installs mudra-network[pdf]; CSV and JSON have the "
        "same numbers"
    ),
    translatable("too many reports are being printed now; try again"),
)
"""Texts of the API that a member can meet on these pages: `page_problem` translates them."""
