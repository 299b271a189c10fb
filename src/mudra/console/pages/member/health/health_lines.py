"""The lines of the health page of a member: each counterpart with its worst API."""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from mudra.console.framework.table import Column, Table
from mudra.localization.language import current, translatable
from mudra.metrics.health.api_names import type_name
from mudra.metrics.health.health import Health, Status
from mudra.metrics.health.picture import ApiPicture, Row, failed_calls, worst_api
from mudra.metrics.payload.catalogue import Tag
from mudra.metrics.rollup.percentage import percentage
from mudra.shared.entity_type import EntityType

ApiOfPair = tuple[str | None, str, Tag, str]
"""An API between an AA and a FIP."""
_STATUSES: Final = {
    Status.GOOD: translatable("good"),
    Status.BAD: translatable("bad"),
    Status.UNSURE: translatable("too few calls"),
}
_TONES: Final = {Status.GOOD: "good", Status.BAD: "bad", Status.UNSURE: "quiet"}
_RECOVERED: Final = translatable("bad earlier")
"""Bad over the time of the page, good in the last hour."""
_ONE_AA: Final = translatable("one AA only")
"""Bad for a FIU, by the calls of one AA alone: it may be that AA or its connection."""
_ORDER: Final = (Status.BAD, _ONE_AA, _RECOVERED, Status.GOOD, Status.UNSURE)


class Line(Struct, frozen=True, gc=False):
    """One API between two parties. Times in milliseconds, the share from 0 to 1."""

    other: str
    name: str
    """Of the other."""
    tag: Tag
    code: str
    calls: int
    failed: int
    share: float | None
    p50: int | None
    p95: int | None
    longest: int | None
    status: Status
    recovered: bool
    of_one_aa: bool = False
    rest: tuple["Line", ...] = ()
    """The other APIs of the same two."""

    @property
    def others(self) -> str:
        """The other APIs, each with its success."""
        return ", ".join(
            one.api if one.success is None else f"{one.api} {current().number(one.success, 1)} %"
            for one in self.rest
        )

    @property
    def state(self) -> str:
        """Return the words of its tag, in English."""
        if self.recovered:
            return _RECOVERED
        return _ONE_AA if self.of_one_aa else _STATUSES[self.status]

    @property
    def rank(self) -> int:
        """Return the place of its state in the order of lines: bad ones first."""
        special = _RECOVERED if self.recovered else _ONE_AA if self.of_one_aa else self.status
        return _ORDER.index(special)

    @property
    def tone(self) -> str:
        """Return the tone of its tag."""
        if self.recovered:
            return "quiet"
        return "warn" if self.of_one_aa else _TONES[self.status]

    @property
    def success(self) -> float | None:
        """The share in percent: written for the rows that are shown, in decimal arithmetic."""
        return percentage(self.share, 1)

    @property
    def api(self) -> str:
        """The name of the API in the current language: a file's is in English."""
        return type_name(self.tag, self.code)


def lines_table(other: str, *, every: bool, one_api: bool) -> Table[Line]:
    """Returns the table of lines: with `every` API of a counterpart, or with its worst one."""
    worst = not (every or one_api)
    rest = Column[Line](
        "rest", translatable("Other APIs"), lambda line: line.others or None, folded=True
    )
    return Table(
        "health",
        translatable("Health"),
        (
            Column[Line]("name", other, lambda line: line.name, also=lambda line: line.other),
            Column[Line]("other", translatable("ID"), lambda line: line.other, "file"),
            Column[Line](
                "api",
                translatable("Worst API") if worst else translatable("API"),
                lambda line: line.api,
                phone="figure",
            ),
            Column[Line](
                "status",
                translatable("Status"),
                lambda line: line.state,
                "tag",
                tone=lambda line: line.tone,
                order=lambda line: line.rank,
                phone="state",
            ),
            Column[Line]("calls", translatable("Calls"), lambda line: line.calls, "number"),
            Column[Line](
                "success",
                translatable("Success, %"),
                lambda line: line.success,
                "number",
                phone="figure",
            ),
            Column[Line]("p50", translatable("p50, ms"), lambda line: line.p50, "number"),
            Column[Line]("p95", translatable("p95, ms"), lambda line: line.p95, "number"),
            Column[Line](
                "longest", translatable("Longest, ms"), lambda line: line.longest, "number"
            ),
            *([rest] if worst else []),
        ),
        first_sort="status",
        rows=20,
    )


def shown_first(lines: Sequence[Line], *, every: bool) -> Sequence[Line]:
    """Returns the bad ones; with `every` all of them."""
    return lines if every else [one for one in lines if one.status is Status.BAD]


def lines_of(
    rows: Sequence[Row],
    kind: EntityType,
    code: str,
    good_now: frozenset[ApiOfPair],
    names: Mapping[str, str],
    *,
    every: bool,
    of_one_aa: frozenset[str] = frozenset(),
) -> Sequence[Line]:
    """Returns one line for each counterpart, the worst first, with its worst API.

    With `every` there is one for each API that can succeed or fail; the two timings have a time
    only. `of_one_aa` has the FIPs at which the calls of one AA alone fail.
    """
    found = []
    for row in rows:
        aa_id, fip_id = row.subject.aa_id, row.subject.fip_id
        other = aa_id if kind is EntityType.FIP else fip_id
        apis = [one for one in row.apis if one.health and code in {"", one.type}]
        good = {
            (one.tag, one.type) for one in apis if (aa_id, fip_id, one.tag, one.type) in good_now
        }
        lines = [
            _line(other, names.get(other, other), one, one.health, (one.tag, one.type) in good)
            for one in apis
            if one.health
        ]
        if fip_id in of_one_aa:
            lines = [replace(one, of_one_aa=one.status is Status.BAD) for one in lines]
        if every:
            found += lines
        elif lines:
            found.append(_worst_first(lines, worst_api(apis, good)))
    return found if every else sorted(found, key=_trouble)


def _line(other: str, name: str, api: ApiPicture, health: Health, good_now: bool) -> Line:
    return Line(
        other=other,
        name=name,
        tag=api.tag,
        code=api.type,
        calls=health.total,
        failed=failed_calls(health),
        share=health.success,
        p50=api.time.p50 if api.time else None,
        p95=api.time.p95 if api.time else None,
        longest=api.time.p100 if api.time else None,
        status=health.status,
        recovered=health.status is Status.BAD and good_now,
    )


def _worst_first(lines: Sequence[Line], worst: ApiPicture | None) -> Line:
    """Returns the line of the worst API, with the others as its rest."""
    chosen = (worst.tag, worst.type) if worst else (lines[0].tag, lines[0].code)
    first = next(one for one in lines if (one.tag, one.code) == chosen)
    return replace(first, rest=tuple(sorted((x for x in lines if x is not first), key=_trouble)))


def _trouble(line: Line) -> tuple[bool, bool, float, int, int]:
    """Returns what sorts lines: bad ones by success, those that were bad, then by failed calls."""
    is_bad = line.status is Status.BAD and line.share is not None
    share = line.share if is_bad and line.share is not None else 1.0
    return line.status is not Status.BAD, line.recovered, share, -line.failed, -line.calls
