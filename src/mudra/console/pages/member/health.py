"""The health of a member: a FIP as each AA sees it, an AA's own gaps, a FIU's FIPs."""

from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

from litestar import Response, get
from litestar.params import FromPath
from litestar.types import ControllerRouterHandler
from msgspec import Struct

from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_guards import member_page
from mudra.console.framework.page_results import Download, Outcome, RenderedPage, StreamedPage
from mudra.console.framework.table import Column, Table
from mudra.console.health.health_query import HealthQuery, query_of, shown_codes, view_of
from mudra.console.health.labels import cause_lines
from mudra.console.health.over_time import LATER, OVER_TIME, PART, over_time
from mudra.http.dependencies import InjectedDependencies
from mudra.http.request.request_context import AnyRequest
from mudra.metrics.health.api_names import api_name, notification_name
from mudra.metrics.health.health import Status
from mudra.metrics.health.picture import Row
from mudra.metrics.incidents.explanation import may_see, of_api
from mudra.metrics.incidents.incident import StoredIncident
from mudra.metrics.payload.catalogue import Tag
from mudra.metrics.payload.receipt_service import Gap
from mudra.metrics.ports import RefusedPush
from mudra.metrics.rollup.percentage import percentage
from mudra.shared.entity_type import EntityType
from mudra.shared.refusal import Refusal

_USUAL: Final = "24h"
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
                "Status",
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
    """Show the health that concerns the entity; `incident=ID` at the time and API of that one."""

    async def handle(page_context: PageContext) -> Outcome:
        view = query_of(page_context.query, page_context.now, _USUAL)
        if not isinstance(view, HealthQuery):
            return view
        view = await _at_incident(page_context) or view
        if OVER_TIME.is_part(page_context.query):
            charts = await _charts(page_context, view, await _concerning(page_context, view))
            if isinstance(charts, Download):
                return charts
            return RenderedPage(PART, {**charts, "view": view})
        return StreamedPage("health.html", {"view": view}, lambda then: _content(then, view))

    return await member_page(request, dependencies, entity_id, handle)


async def _at_incident(page_context: PageContext) -> HealthQuery | None:
    """Returns the time and API of the incident that an alarm led to, if it concerns the member."""
    try:
        wanted = str(UUID(page_context.query.get("incident", "")))
    except ValueError:
        return None
    stored = await page_context.work.incidents.find(wanted)
    if isinstance(stored, Refusal) or not _concerns(stored, page_context):
        return None
    return view_of(stored.incident, shown_codes(stored.incident), page_context.now)


def _concerns(stored: StoredIncident, page_context: PageContext) -> bool:
    member = page_context.member
    fiu = member.entity_type == EntityType.FIU.value
    return may_see(stored.incident, member.entity_id, of_fips=fiu)


async def _concerning(page_context: PageContext, view: HealthQuery) -> Sequence[StoredIncident]:
    found = await page_context.work.incidents.causes_within(view.within)
    return [
        one for one in found if _concerns(one, page_context) and of_api(one.incident, view.code)
    ]


async def _charts(
    page_context: PageContext, view: HealthQuery, incidents: Sequence[StoredIncident]
) -> Mapping[str, object] | Download:
    """Returns the charts of the calls that a member makes or receives; a FIU's are not counted."""
    member = page_context.member
    kind = EntityType(member.entity_type)
    if kind is EntityType.FIU:
        return LATER
    marked = [one.incident for one in incidents]
    return await over_time(
        page_context,
        view,
        marked,
        aa_id=member.entity_id if kind is EntityType.AA else None,
        fip_id=member.entity_id if kind is EntityType.FIP else None,
    )


async def _content(page_context: PageContext, view: HealthQuery) -> Mapping[str, object] | Download:
    entity_id, within = page_context.member.entity_id, view.within
    kind = EntityType(page_context.member.entity_type)
    incidents = await _concerning(page_context, view)
    charts: Mapping[str, object] | Download = LATER
    if not OVER_TIME.comes_later(page_context.query):
        charts = await _charts(page_context, view, incidents)
    if isinstance(charts, Download):
        return charts
    own = await page_context.work.health.of_member(
        entity_id, kind, within, page_context.now, by_aa=True
    )
    table = _AS_AAS_SEE_IT if kind is EntityType.FIP else _OF_FIPS
    lines = _lines(own.rows, table, view.code)
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
            **charts,
            "has_charts": kind is not EntityType.FIU,
            "causes": cause_lines(incidents, lambda one: f"?incident={one.incident_id}"),
            "lines": table.view(lines, page_context.query),
            "planned": await page_context.work.health.maintenances(
                within, page_context.now, {entity_id, *(row.subject.fip_id for row in own.rows)}
            ),
            "proof": own.coverage.proof() if own.rows else None,
            "reports": kind is EntityType.AA,
            "missing": sum(gap.windows for gap in missing),
            "gaps": _GAPS.view(missing, page_context.query),
            "refused": _REFUSED.view(refused, page_context.query),
        }
    )


def _lines(rows: Sequence[Row], table: Table[Line], code: str) -> Sequence[Line]:
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
        if api.health is not None and code in {"", api.type}
    ]


handlers: Final[list[ControllerRouterHandler]] = [health]
