"""The health of a member: a FIP as each AA sees it, an AA's own gaps, a FIU's FIPs."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

from litestar import Response, get
from litestar.params import FromPath
from litestar.types import ControllerRouterHandler
from msgspec import Struct

from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_guards import member_page
from mudra.console.framework.page_results import Download, Outcome, StreamedPage
from mudra.console.framework.table import Column, Table
from mudra.http.dependencies import InjectedDependencies
from mudra.http.request.request_context import AnyRequest
from mudra.metrics.health.api_names import api_name, notification_name
from mudra.metrics.health.health import Status
from mudra.metrics.health.picture import Row
from mudra.metrics.payload.catalogue import Tag
from mudra.metrics.payload.receipt_service import Gap
from mudra.metrics.ports import RefusedPush
from mudra.metrics.rollup.coverage import TimeRange, closed_before
from mudra.metrics.rollup.percentage import percentage
from mudra.shared.entity_type import EntityType

_SPANS: Final = {"1": "24 hours", "7": "7 days", "30": "30 days"}
_TONES: Final = {Status.GOOD: "good", Status.BAD: "bad", Status.UNSURE: "quiet"}


class Line(Struct, frozen=True):
    """One API between two parties. Times in milliseconds, the share in percent."""

    other: str
    api: str
    calls: int
    success: float | None
    p50: int | None
    p95: int | None
    longest: int | None
    status: Status


def _table(other: str) -> Table[Line]:
    return Table(
        "health",
        "Health",
        (
            Column[Line]("other", other, lambda line: line.other, "code"),
            Column[Line]("api", "API", lambda line: line.api),
            Column[Line](
                "status",
                "Verdict",
                lambda line: line.status.value,
                "tag",
                tone=lambda line: _TONES[line.status],
            ),
            Column[Line]("calls", "Calls", lambda line: line.calls, "number"),
            Column[Line]("success", "Success, %", lambda line: line.success, "number"),
            Column[Line]("p50", "p50, ms", lambda line: line.p50, "number"),
            Column[Line]("p95", "p95, ms", lambda line: line.p95, "number"),
            Column[Line]("longest", "Longest, ms", lambda line: line.longest, "number"),
        ),
        first_sort="status",  # BAD, GOOD, UNSURE: bad ones first
    )


_AS_AAS_SEE_IT: Final = _table("AA")
_OF_FIPS: Final = _table("FIP")
_GAPS: Final = Table(
    "gaps",
    "Gaps",
    (
        Column[Gap]("since", "From", lambda gap: gap.within.start, "time"),
        Column[Gap]("until", "To", lambda gap: gap.within.end, "time"),
        Column[Gap]("windows", "Windows", lambda gap: gap.windows, "number"),
        Column[Gap]("payload", "Payload", lambda gap: gap.tag.value, "code"),
    ),
    first_sort="-since",
)
_REFUSED: Final = Table(
    "refused",
    "Refused payloads",
    (
        Column[RefusedPush]("at", "When", lambda push: push.at, "time"),
        Column[RefusedPush]("total", "Findings", lambda push: push.total, "number"),
        Column[RefusedPush](
            "first",
            "First finding",
            lambda push: push.findings[0].sentence() if push.findings else None,
        ),
    ),
    first_sort="-at",
)


@get("/entity/{entity_id:str}/health", include_in_schema=False)
async def health(
    entity_id: FromPath[str], request: AnyRequest, dependencies: InjectedDependencies
) -> Response[str] | Response[bytes]:
    """Show the health of the entity, over a day, a week or a month."""

    async def handle(page_context: PageContext) -> Outcome:
        days = page_context.query.get("days", "1")
        days = days if days in _SPANS else "1"
        within = closed_before(page_context.now, timedelta(days=int(days)))
        return StreamedPage(
            "health.html",
            {"spans": _SPANS, "days": days, "within": within},
            lambda then: _content(then, entity_id, within),
        )

    return await member_page(request, dependencies, entity_id, handle)


async def _content(
    page_context: PageContext, entity_id: str, within: TimeRange
) -> Mapping[str, object] | Download:
    kind = EntityType(page_context.member.entity_type)
    own = await page_context.work.health.of_member(
        entity_id, kind, within, page_context.now, by_aa=True
    )
    table = _AS_AAS_SEE_IT if kind is EntityType.FIP else _OF_FIPS
    lines = _lines(own.rows, table)
    missing: Sequence[Gap] = ()
    refused: Sequence[RefusedPush] = ()
    if kind is EntityType.AA:
        missing = await page_context.work.receipts.gaps(entity_id, within, page_context.now)
        refused = await page_context.work.receipts.refused(entity_id, within)
    return (
        table.export(lines, page_context.query)
        or _GAPS.export(missing, page_context.query)
        or _REFUSED.export(refused, page_context.query)
        or {
            "view": table.view(lines, page_context.query),
            "proof": own.coverage.proof() if own.rows else None,
            "reports": kind is EntityType.AA,
            "missing": sum(gap.windows for gap in missing),
            "gaps": _GAPS.view(missing, page_context.query),
            "refused": _REFUSED.view(refused, page_context.query),
        }
    )


def _lines(rows: Sequence[Row], table: Table[Line]) -> Sequence[Line]:
    """Returns one line for each API that can succeed or fail; the two timings have a time only."""
    return [
        Line(
            other=row.subject.aa_id if table is _AS_AAS_SEE_IT else row.subject.fip_id,
            api=(api_name if api.tag is Tag.REQUESTS else notification_name)(api.type),
            calls=api.health.total,
            success=percentage(api.health.success),
            p50=api.time.p50.estimate if api.time else None,
            p95=api.time.p95.estimate if api.time else None,
            longest=api.time.p100 if api.time else None,
            status=api.health.status,
        )
        for row in rows
        for api in row.apis
        if api.health is not None
    ]


handlers: Final[list[ControllerRouterHandler]] = [health]
