"""Service levels: reports and targets of all members for operators, a member's own for members."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID
from zoneinfo import ZoneInfo

from litestar.params import FromPath
from litestar.types import ControllerRouterHandler
from msgspec import json

from mudra.console.disputes.member_disputes import contest_path
from mudra.console.framework import page
from mudra.console.framework.navigation import member_path, operator_path
from mudra.console.framework.page import Fields
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import Download, GoTo, LongAct, Outcome, RenderedPage
from mudra.console.pages.levels.failing_now import FailingNow, failing_now, with_pace
from mudra.console.pages.levels.view import (
    BudgetRow,
    api_rows,
    budget_rows,
    missed_texts,
    months,
    others,
    target_rows,
)
from mudra.console.pages.member.incident import incident_path
from mudra.http.auth.gates import ADMIN, READER, operator
from mudra.http.levels.signing import signing
from mudra.http.response.http_refusals import InvalidField
from mudra.identity.operators.operator import Scope
from mudra.levels.budgets.budget_service import BudgetService
from mudra.levels.level_service import LevelService
from mudra.levels.months import month_before, month_name, month_of
from mudra.levels.printing.labels import change_texts, columns, fate_text, measure_text
from mudra.levels.printing.report_csv import report_as_csv
from mudra.levels.printing.signed_words import cause_words, reason_words
from mudra.levels.report_store import Listed, Signed
from mudra.levels.target import ROLES, Measure
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.incidents.explanation import may_see
from mudra.metrics.incidents.incident import StoredIncident
from mudra.metrics.incidents.subject import text_of
from mudra.metrics.payload.catalogue import CALL_CODES
from mudra.metrics.rollup.coverage import TimeRange
from mudra.shared.refusal import Refusal

_WORD: Final = "levels"
_NETWORK: Final = ""
_MONTH: Final = 7
_MAX_MISSED: Final = 24
"""Reports that are read for what they missed: the latest ones."""
_MAX_OF_ALL: Final = 100
"""The same in the list of all members."""
_MAX_BUDGETS: Final = 100
"""The emptiest ones: a nation has thousands."""
_PDF: Final = "application/pdf"


@page.get("/operator/levels", gate=operator(Scope.HEALTH))
async def all_levels(page_context: PageContext) -> Outcome:
    """List the reports of all members, the form for another one, and the targets."""
    service = page_context.tx.service(LevelService)
    entity_id = page_context.query.get("entity")
    reports = await service.list(entity_id)
    facts = {
        "missed": await service.reports.missed([each.report_id for each in reports[:_MAX_OF_ALL]]),
        "most_missed": _MAX_OF_ALL,
        "of": entity_id,
        "members": await service.reports.members(page_context.now),
        "targets": target_rows(await service.targets_on(page_context.now)),
        "measures": [(one.value, measure_text(one)) for one in Measure],
        "roles": ROLES,
        "apis": CALL_CODES,
        "rule": await service.rule_now(page_context.now),
        "rules": await service.rules(),
        "today": page_context.now.date().isoformat(),
        "budgets": await _budgets(page_context, None),
    }
    path = operator_path(_WORD)
    return await _list_page(page_context, reports, facts, path, "operator_levels.html")


@page.post("/operator/levels", gate=operator(Scope.HEALTH))
async def make(page_context: PageContext, fields: Fields) -> Outcome:
    """Make a report of a month or of the time so far."""
    return await _make(page_context, fields, fields.get("entity", "").strip(), operator_path(_WORD))


@page.get("/operator/levels/{report_id:uuid}", gate=operator(Scope.HEALTH))
async def one(page_context: PageContext, report_id: FromPath[UUID]) -> Outcome | LongAct:
    """Show a report; `download=pdf`, `csv` or `proof` gives it as a file."""
    return await _report_page(page_context, str(report_id), None, operator_path(_WORD))


@page.get("/entity/{entity_id:str}/levels", gate=READER)
async def own_levels(page_context: PageContext) -> Outcome:
    """List the member's own reports and the network's."""
    service, own = page_context.tx.service(LevelService), page_context.member.entity_id
    reports = [each for which in (own, _NETWORK) for each in await service.list(which)]
    has_own = page_context.member.entity_type != "FIU"
    failing = await failing_now(page_context) if has_own else FailingNow()
    zone = ZoneInfo(service.zone)
    budgets = await _budgets(page_context, own, failing)
    facts = {
        "missed": await service.reports.missed([each.report_id for each in reports[:_MAX_MISSED]]),
        "ranked": await service.league_months(),
        "has_own": has_own,
        "budgets": budgets,
        "budget_month": f"{budgets[0].since.astimezone(zone):%Y-%m}" if budgets else "",
        "failing": failing.lines,
        "rule": await service.rule_now(page_context.now),
    }
    return await _list_page(page_context, reports, facts, member_path(own, _WORD), "levels.html")


@page.post("/entity/{entity_id:str}/levels", gate=ADMIN)
async def make_own(page_context: PageContext, fields: Fields) -> Outcome:
    """Make the member's own report of a month."""
    own = page_context.member.entity_id
    return await _make(page_context, fields, own, member_path(own, _WORD))


@page.get("/entity/{entity_id:str}/levels/{report_id:uuid}", gate=READER)
async def own_one(page_context: PageContext, report_id: FromPath[UUID]) -> Outcome | LongAct:
    """Show one of these reports, or give it as a file."""
    own = page_context.member.entity_id
    readable = (own, _NETWORK)
    return await _report_page(page_context, str(report_id), readable, member_path(own, _WORD))


async def _budgets(
    page_context: PageContext, entity_id: str | None, failing: FailingNow | None = None
) -> Sequence[BudgetRow]:
    found = await page_context.tx.service(BudgetService).of_now(
        page_context.now, entity_id=entity_id
    )
    if failing is not None and failing.lines:
        found = with_pace(page_context, found, failing)
    return budget_rows(found[:_MAX_BUDGETS])


async def _list_page(
    page_context: PageContext,
    reports: Sequence[Listed],
    facts: Mapping[str, object],
    path: str,
    template: str,
) -> Outcome:
    service = page_context.tx.service(LevelService)
    zone, kept = ZoneInfo(service.zone), page_context.now - service.kept
    last = month_name(month_before(page_context.now, zone), zone)
    offered = [one for one in months(last) if one == last or service.month(one).start >= kept]
    shown = {
        "path": path,
        "reports": reports,
        "names": await page_context.tx.service(HealthService).names(),
        "whole_months": _whole_months(reports, zone),
        "months": [one for one in offered if await service.reports.has_reports(service.month(one))],
        **facts,
    }
    return RenderedPage(template, shown)


async def _make(page_context: PageContext, fields: Fields, entity_id: str, path: str) -> Outcome:
    service, month = page_context.tx.service(LevelService), fields.get("month", "").strip()
    try:
        datetime.fromisoformat(f"{month}-01")
        within = service.ended_month(month, page_context.now) if len(month) == _MONTH else None
    except ValueError:
        within = None
    if within is None:
        return InvalidField("month must be such as 2026-03")
    if isinstance(within, Refusal):
        return within
    signer = page_context.dependencies.signer
    await signer.ready()
    made = await service.make(
        entity_id, within, page_context.caller, page_context.now, signing(signer)
    )
    return made if isinstance(made, Refusal) else GoTo(f"{path}/{made.report_id}")


async def _report_page(
    page_context: PageContext, report_id: str, readable: Sequence[str] | None, path: str
) -> Outcome | LongAct:
    service = page_context.tx.service(LevelService)
    found = await service.find(report_id, readable)
    if isinstance(found, Refusal):
        return found
    listed, signed = found
    report, wanted = signed.report, page_context.query.get("download", "")
    name = _file_name(listed)
    if wanted == "csv":
        text = await asyncio.to_thread(report_as_csv, report)
        return Download(f"{name}.csv", "text/csv", text.encode())
    if wanted == "pdf":
        return _pdf(page_context, service, signed, f"{name}.pdf")
    if wanted == "proof":
        proof = await service.proof(report_id, readable)
        if isinstance(proof, Refusal):
            return proof
        return Download(f"{name}.json", "application/json", json.encode(proof))
    versions = [
        each
        for each in await service.list(listed.entity_id)
        if (each.start, each.end) == (listed.start, listed.end)
    ]
    incidents = await service.incidents.of_ids(sorted({one.reference for one in report.spans}))
    names = await page_context.tx.service(HealthService).names()
    facts = {
        "report": report,
        "listed": listed,
        "versions": versions,
        "whole_months": _whole_months(versions, ZoneInfo(service.zone)),
        "path": path,
        "columns": columns(),
        "rows": api_rows(report),
        "missed": missed_texts(report),
        "others": others(report),
        "of_reports": any(one.measure is Measure.MISSING for one in report.figures),
        "spans": [(each, fate_text(each.fate), cause_words(each.cause)) for each in report.spans],
        "reasons": [(reason_words(each), each) for each in report.reasons],
        "changes": [change_texts(each) for each in report.changes],
        "incidents": _pages(page_context, incidents),
        "labels": {one.incident_id: text_of(one.incident.subject, names) for one in incidents},
        "contest": contest_path(listed.entity_id, about="line"),
        "is_own": readable is not None and listed.entity_id != _NETWORK,
        "names": names,
        "kid": signed.key.get("kid", ""),
    }
    return RenderedPage("level_report.html", facts)


def _whole_months(reports: Iterable[Listed], zone: ZoneInfo) -> Mapping[str, str]:
    """Returns the months of the reports that are of a whole one, by the report's ID."""
    return {
        one.report_id: month_name(TimeRange(one.start, one.end), zone)
        for one in reports
        if month_of(one.start, zone) == TimeRange(one.start, one.end)
    }


def _pages(page_context: PageContext, found: Sequence[StoredIncident]) -> Mapping[str, str]:
    """Returns the pages of the incidents that spans come from, by ID: those that one may see."""
    if page_context.entity is None:
        return {one.incident_id: operator_path(f"incidents/{one.incident_id}") for one in found}
    own = page_context.member.entity_id
    return {one.incident_id: incident_path(own, one) for one in found if may_see(one.incident, own)}


def _pdf(page_context: PageContext, service: LevelService, signed: Signed, name: str) -> LongAct:
    printed = service.printed(signed, page_context.dependencies.settings.network_name)

    async def run() -> Download | Refusal:
        made = await page_context.dependencies.print_pdf(
            page_context.caller.actor, printed, signed.report.made_at
        )
        return made if isinstance(made, Refusal) else Download(name, _PDF, made)

    return LongAct(run)


def _file_name(listed: Listed) -> str:
    return f"levels-{listed.entity_id or 'network'}-{listed.start:%Y%m%d}-v{listed.version}"


handlers: Final[list[ControllerRouterHandler]] = [
    *(all_levels, make, one),
    *(own_levels, make_own, own_one),
]
