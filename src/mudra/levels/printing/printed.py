"""A report as it is printed: all its texts in the current language, and the lengths of its bars.

These are data of the page's template, never a part of it: a name is shown as it is written.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from msgspec import Struct

from mudra.levels.calculation import Figure
from mudra.levels.evidence import Span
from mudra.levels.printing import labels
from mudra.levels.printing.signed_words import cause_words, reason_words
from mudra.levels.report import Report
from mudra.levels.target import Measure, Target
from mudra.localization.language import current, gettext

MAX_ROWS: Final = 400
"""Of spans and of changes: what is beyond is in the signed report."""


class Bar(Struct, frozen=True):
    """A bar from 90 to 100 percent; parts of its width, from 0 to 1."""

    length: float
    target: float | None
    filled: bool


class Number(Struct, frozen=True):
    """A number with its target and verdict; both may be empty."""

    value: str
    target: str = ""
    verdict: str = ""


class Row(Struct, frozen=True):
    """The numbers of one API."""

    name: str
    bar: Bar | None
    numbers: Sequence[Number]
    counts: Sequence[str]


class Table(Struct, frozen=True):
    """A section with a table, and a note below it."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""


class Printed(Struct, frozen=True):
    """Everything that is printed."""

    language: str
    title: str
    member: str
    facts: Sequence[Sequence[str]]
    heading: str
    columns: Sequence[str]
    rows: Sequence[Row]
    legend: str
    tables: Sequence[Table]
    proof: str
    footer: str
    pages: str
    """`{0}` and `{1}` are the number of the page and of all pages."""


def printed_report(report: Report, network: str, zone: ZoneInfo, kid: str) -> Printed:
    """Returns the texts of a report, with times in the network's zone."""
    member = report.member.name or report.member.entity_id or gettext("Network")
    period = _period(report.start, report.end, zone)
    language = current()
    return Printed(
        language=language.tag,
        title=gettext("Service levels"),
        member=member,
        facts=[
            [gettext("Network"), network],
            [gettext("ID"), report.member.entity_id or labels.NOTHING],
            [gettext("Role"), report.member.role.value if report.member.role else labels.NOTHING],
            [gettext("Period"), f"{period} ({zone.key})"],
            [gettext("Version"), language.number(report.version)],
            [gettext("Made"), language.minute(report.made_at, zone)],
        ],
        heading=gettext("By API"),
        columns=[
            gettext("API"),
            *labels.columns(),
            *(gettext("Outages"), gettext("Calls"), gettext("Left out"), gettext("Uncertain")),
            gettext("Reporters"),
        ],
        rows=[_row(api, found) for api, found in report.by_api(labels.COLUMNS).items()],
        legend=gettext(
            "Bars begin at 90 percent. A line marks the target; an outline has missed it. "
            "Shares are rounded down. Percentiles are estimates."
        ),
        tables=[one for one in _tables(report, zone) if one.rows or one.note],
        proof=_proof(report, kid),
        footer=f"{member} · {period}",
        pages=gettext("Page %(page)s of %(pages)s", page="{0}", pages="{1}"),
    )


def _period(start: datetime, end: datetime, zone: ZoneInfo) -> str:
    language = current()
    return f"{language.minute(start, zone)} {labels.NOTHING} {language.minute(end, zone)}"


def _row(api: str, found: Mapping[Measure, Figure]) -> Row:
    up = found.get(Measure.AVAILABILITY)
    first = up or found[Measure.SUCCESS]
    number = current().number
    return Row(
        labels.api_text(api),
        _bar(first),
        [_number(found.get(one)) for one in labels.COLUMNS],
        [
            labels.down_text(up) or labels.NOTHING,
            *map(number, (first.whole, first.left_out, first.uncertain, first.reporters)),
        ],
    )


def _bar(one: Figure) -> Bar | None:
    if one.value is None:
        return None
    has_target = one.target is not None and one.target >= labels.BARS_FROM
    target = labels.bar_part(one.target) if has_target and one.target is not None else None
    return Bar(labels.bar_part(one.value), target, one.met is not False)


def _number(one: Figure | None) -> Number:
    if one is None:
        return Number(labels.NOTHING)
    target = labels.target_text(one)
    verdict = "" if one.met is None else gettext("met") if one.met else gettext("missed")
    return Number(
        labels.value_text(one), gettext("target %(value)s", value=target) if target else "", verdict
    )


def _tables(report: Report, zone: ZoneInfo) -> Sequence[Table]:
    reports, number = report.reports, current().number
    counted = gettext(
        "%(received)s of %(expected)s reports were received, from %(seen)s of %(all)s AAs.",
        received=number(reports.received),
        expected=number(reports.expected),
        seen=number(reports.reporters_seen),
        all=number(reports.reporters_expected),
    )
    spans, changes = report.spans[:MAX_ROWS], report.changes[:MAX_ROWS]
    left = len(report.spans) - len(spans) + len(report.changes) - len(changes)
    more = gettext("%(rows)s more are in the signed report.", rows=number(left)) if left else ""
    everything = gettext("All calls of the period count.")
    return [
        Table(
            gettext("Data and reports"),
            [gettext("Measure"), gettext("Value"), gettext("Target"), "", gettext("Number")],
            [_other(one) for one in report.figures if one.measure not in labels.COLUMNS],
            counted,
        ),
        Table(
            gettext("What counts differently"),
            ["", gettext("Period"), gettext("Cause")],
            [_span(one, zone) for one in spans],
            more if report.spans else everything,
        ),
        Table(
            gettext("What changed since the version before"),
            [
                *(gettext("Measure"), gettext("API"), gettext("Number")),
                *(gettext("Before"), gettext("After")),
            ],
            [labels.change_texts(one) for one in changes],
            " · ".join(map(reason_words, report.reasons[:MAX_ROWS])),
        ),
        Table(
            gettext("Targets"),
            [gettext("Measure"), gettext("API"), gettext("Target"), gettext("Reason")],
            [_target(one) for one in report.targets],
        ),
    ]


def _other(one: Figure) -> Sequence[str]:
    shown = _number(one)
    name = gettext(labels.MEASURES[one.measure])
    return [name, shown.value, labels.target_text(one), shown.verdict, current().number(one.whole)]


def _span(one: Span, zone: ZoneInfo) -> Sequence[str]:
    cause = cause_words(one.cause) + (f" ({', '.join(one.peers)})" if one.peers else "")
    return [labels.fate_text(one.fate), _period(one.start, one.end, zone), cause]


def _target(one: Target) -> Sequence[str]:
    amount = labels.exact_text(one.measure, one.value)
    least = gettext("at most %(value)s", value=amount)
    if not one.measure.at_most:
        least = gettext("at least %(value)s", value=amount)
    return [
        gettext(labels.MEASURES[one.measure]),
        labels.api_text(one.api),
        least,
        gettext(one.reason),
    ]


def _proof(report: Report, kid: str) -> str:
    return gettext(
        "This is a print of a signed report of %(issuer)s. The key %(kid)s signed it; the SHA-256 "
        "of its evidence is %(evidence)s. Check every number with %(command)s and the proof.",
        issuer=report.issuer,
        kid=kid,
        evidence=report.evidence,
        command="mudra report verify",
    )
