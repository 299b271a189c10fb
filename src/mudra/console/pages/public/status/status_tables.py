"""The tables of the public status: APIs over 24 hours, an institution day by day, and levels."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from urllib.parse import quote

from msgspec import Struct

from mudra.console.framework.table import Column, Table
from mudra.levels.printing.published import PublicLevel
from mudra.localization.language import current, gettext, translatable
from mudra.metrics.health.health import Status
from mudra.metrics.incidents.incident import API_SEPARATOR, Effect
from mudra.metrics.payload.catalogue import FEED_APIS
from mudra.metrics.public_status.public_rows import PublicRow
from mudra.metrics.public_status.status_history import Day, DayState, FipHistory, PublicIncident

_STATES: Final = {
    Status.BAD: (translatable("bad"), "bad"),
    Status.GOOD: (translatable("good"), "good"),
    Status.UNSURE: (translatable("no data"), "quiet"),
}
_TOO_FEW: Final = translatable("too few calls"), "quiet"
_DISRUPTED: Final = translatable("disrupted now"), "bad"
_FAILING: Final = translatable("%(share)s %% failing now")
_DAYS: Final = {
    DayState.GOOD: (translatable("good"), "good"),
    DayState.PARTLY: (translatable("an incident"), "warn"),
    DayState.BAD: (translatable("bad"), "bad"),
    DayState.NO_DATA: (translatable("no data"), "quiet"),
    DayState.TOO_FEW: _TOO_FEW,
}


class ApiLine(Struct, frozen=True):
    """One API of one institution."""

    fip: FipHistory
    name: str
    """The name of the institution, with its ID where others have the same."""
    row: PublicRow
    suffix: str
    """What links to the institution end with: the language that was asked for."""
    is_disrupted: bool = False
    """Whether an incident of it is open, however well the day was."""
    failed: float | None = None
    """What an open incident of this API alone failed of its calls, in percent."""


def lines_of(
    fips: Sequence[FipHistory],
    names: Mapping[str, str],
    suffix: str = "",
    open_now: Iterable[PublicIncident] = (),
) -> list[ApiLine]:
    """Returns every API of these institutions, under these names."""
    still_open = [one for one in open_now if one.ended is None]
    disrupted = {
        (one.fip_id, code)
        for one in still_open
        if one.effect is Effect.DISRUPTED
        for code in one.type.split(API_SEPARATOR)
    }
    failed = {
        (one.fip_id, one.type): round(100 - one.success_percentage, 1)
        for one in still_open
        if one.success_percentage is not None
    }
    return [
        ApiLine(
            fip,
            names[fip.fip_id],
            row,
            suffix,
            not disrupted.isdisjoint({(fip.fip_id, ""), (fip.fip_id, FEED_APIS[row.api].value)}),
            failed.get((fip.fip_id, FEED_APIS[row.api].value)),
        )
        for fip in fips
        for row in fip.apis
    ]


def _state(line: ApiLine) -> tuple[str, str]:
    if line.is_disrupted:
        failed = current().number(line.failed, 1) if line.failed is not None else ""
        return (gettext(_FAILING, share=failed), "bad") if failed else _DISRUPTED
    return _TOO_FEW if line.row.too_few_calls else _STATES[line.row.status]


def _one_place(share: float | None) -> float | None:
    return None if share is None else round(share, 1)


_OF_AN_API: Final = (
    Column[ApiLine](
        "api", translatable("API"), lambda line: FEED_APIS[line.row.api].public_label, "label"
    ),
    Column[ApiLine](
        "status",
        translatable("Status"),
        lambda line: _state(line)[0],
        "tag",
        tone=lambda line: _state(line)[1],
    ),
    Column[ApiLine]("calls", translatable("Calls"), lambda line: line.row.requests, "number"),
    Column[ApiLine](
        "success",
        translatable("Success, %"),
        lambda line: _one_place(line.row.success_percentage),
        "number",
    ),
    Column[ApiLine](
        "none", translatable("No answer %"), lambda line: line.row.timeout_percentage, "number"
    ),
    Column[ApiLine](
        "server", translatable("5xx %"), lambda line: line.row.server_error_percentage, "number"
    ),
    Column[ApiLine](
        "missing", translatable("404 %"), lambda line: line.row.not_found_percentage, "number"
    ),
    Column[ApiLine](
        "client",
        translatable("Other 4xx %"),
        lambda line: line.row.other_client_error_percentage,
        "number",
    ),
    Column[ApiLine]("p50", translatable("p50 ms"), lambda line: line.row.p50, "number"),
    Column[ApiLine]("p95", translatable("p95 ms"), lambda line: line.row.p95, "number"),
    Column[ApiLine]("p99", translatable("p99 ms"), lambda line: line.row.p99, "number"),
)
APIS_OF_ONE: Final = Table(
    "apis", translatable("APIs, last 24 hours"), _OF_AN_API, first_sort="status"
)
APIS_OF_ALL: Final = Table(
    "apis",
    translatable("APIs of all institutions, last 24 hours"),
    (
        Column[ApiLine](
            "institution",
            translatable("Institution"),
            lambda line: line.name,
            link=lambda line: f"/status/fip/{quote(line.fip.fip_id, safe='')}{line.suffix}",
        ),
        *_OF_AN_API,
    ),
    first_sort="status",  # bad, good, no data: bad ones first
)
DAYS: Final = Table[Day](
    "history",
    translatable("Day by day"),
    (
        Column("day", translatable("Day (UTC)"), lambda one: one.day, "day"),
        Column(
            "state",
            translatable("State"),
            lambda one: _DAYS[one.state][0],
            "tag",
            tone=lambda one: _DAYS[one.state][1],
        ),
        Column("calls", translatable("Calls"), lambda one: one.requests, "number"),
        Column("success", translatable("Success %"), lambda one: one.success_percentage, "number"),
    ),
    first_sort="-day",
)


class LevelLine(Struct, frozen=True):
    """One month of one institution: what it delivered."""

    level: PublicLevel
    name: str
    """The name of the institution, with its ID where others have the same."""
    link: str
    """Empty for an institution that has left the network."""


_MET: Final = {
    True: (translatable("target met"), "good"),
    False: (translatable("target missed"), "bad"),
    None: (translatable("no target"), "quiet"),
}


def levels_of(
    levels: Sequence[PublicLevel], names: Mapping[str, str], suffix: str
) -> list[LevelLine]:
    """Returns the lines of these levels, with the names that institutions have today."""
    return [
        LevelLine(
            one,
            names.get(one.fip_id, one.name),
            f"/status/fip/{quote(one.fip_id, safe='')}{suffix}" if one.fip_id in names else "",
        )
        for one in levels
    ]


def _verdict(level: PublicLevel) -> tuple[str, str]:
    return _TOO_FEW if level.requests is None else _MET[level.target_met]


LEVELS: Final = Table[LevelLine](
    "levels",
    translatable("Service levels by month"),
    (
        Column(
            "institution",
            translatable("Institution"),
            lambda one: one.name,
            link=lambda one: one.link,
            also=lambda one: one.level.fip_id,
        ),
        Column("month", translatable("Month"), lambda one: one.level.month, phone="second-name"),
        Column(
            "target-met",
            translatable("Target"),
            lambda one: _verdict(one.level)[0],
            "tag",
            tone=lambda one: _verdict(one.level)[1],
            phone="state",
        ),
        Column(
            "up",
            translatable("Availability, %"),
            lambda one: one.level.availability_percentage,
            "number",
            phone="figure",
        ),
        Column(
            "target",
            translatable("Asked, %"),
            lambda one: one.level.target_percentage,
            "number",
            phone="figure",
        ),
        Column(
            "calls",
            translatable("Calls"),
            lambda one: one.level.requests,
            "number",
            phone="figure",
        ),
        Column(
            "contested",
            translatable("Contested"),
            lambda one: translatable("contested") if one.level.contested else None,
            "tag",
            tone=lambda _: "warn",
            phone="state",
        ),
        Column("version", translatable("Version"), lambda one: one.level.version, "number"),
        Column("made", translatable("Made"), lambda one: one.level.made, "moment"),
        Column("id", translatable("Entity ID"), lambda one: one.level.fip_id, "file"),
    ),
)
