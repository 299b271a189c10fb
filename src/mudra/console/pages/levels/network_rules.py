"""Targets, the rule of the network and the league table: what operators set, and members see."""

from datetime import datetime
from typing import Final
from uuid import UUID
from zoneinfo import ZoneInfo

from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from mudra.console.framework import page
from mudra.console.framework.navigation import member_path, operator_path
from mudra.console.framework.page import Fields
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import GoTo, Outcome, RenderedPage
from mudra.console.framework.table import Column, Table
from mudra.http.auth.gates import READER, operator
from mudra.http.levels.level_shapes import LeagueParameters, RuleRequest, TargetRequest
from mudra.http.request.validation import decode_struct
from mudra.http.response.http_refusals import InvalidField
from mudra.identity.operators.operator import Scope
from mudra.levels.level_service import LevelService
from mudra.levels.months import made_after, month_before, month_name, month_of
from mudra.levels.printing.league import NO_LEAGUE, Place
from mudra.localization.language import translatable
from mudra.shared.entity_type import EntityType
from mudra.shared.refusal import Refusal

_WORD: Final = "levels"
_TARGETS: Final = operator_path("levels#targets")
_RULE: Final = operator_path("levels#rule")
_MAX_DIGITS: Final = 6
PLACES: Final = Table[Place](
    "places",
    translatable("Places"),
    (
        Column("member", translatable("Member"), lambda one: one.name or one.entity_id),
        Column("place", translatable("Place"), lambda one: one.place, "number"),
        Column("up", translatable("Availability, %"), lambda one: one.availability, "number"),
        Column("success", translatable("Success, %"), lambda one: one.success, "number"),
        Column("calls", translatable("Calls"), lambda one: one.calls, "number"),
        Column("missed", translatable("Targets missed"), lambda one: one.missed, "number"),
        Column("id", translatable("Entity ID"), lambda one: one.entity_id, "code"),
    ),
    first_sort="place",
)


@page.post("/operator/levels/targets", gate=operator(Scope.HEALTH))
async def set_target(page_context: PageContext, fields: Fields) -> Outcome:
    """Set a target from a day on, as the API does."""
    names = ("role", "measure", "value", "since", "reason", "api")
    typed = {name: fields[name].strip() for name in names if name in fields}
    asked = decode_struct(typed, TargetRequest)
    if isinstance(asked, InvalidField):
        return asked
    made = await page_context.tx.service(LevelService).set_target(
        asked.command, page_context.caller, page_context.now
    )
    return made if isinstance(made, Refusal) else GoTo(_TARGETS)


@page.post("/operator/levels/targets/{target_id:uuid}/end", gate=operator(Scope.HEALTH))
async def end_target(page_context: PageContext, _: Fields, target_id: FromPath[UUID]) -> Outcome:
    """End a target today."""
    ended = await page_context.tx.service(LevelService).end_target(
        str(target_id), page_context.caller, page_context.now
    )
    return ended if isinstance(ended, Refusal) else GoTo(_TARGETS)


@page.post("/operator/levels/rule", gate=operator(Scope.HEALTH))
async def set_rule(page_context: PageContext, fields: Fields) -> Outcome:
    """Set the rule about maintenance and who sees which figures from a day on."""
    hours = {name: _whole(fields.get(name, "").strip()) for name in ("noticeHours", "hoursAMonth")}
    typed = {name: fields.get(name, "").strip() for name in ("since", "reason")}
    shown = {name: name in fields for name in ("league", "published")}
    asked = decode_struct({**typed, **hours, **shown}, RuleRequest)
    if isinstance(asked, InvalidField):
        return asked
    service = page_context.tx.service(LevelService)
    rule = asked.rule(await service.rules())
    made = await service.set_rule(rule, page_context.caller, page_context.now)
    return made if isinstance(made, Refusal) else GoTo(_RULE)


@page.get("/operator/levels/league", gate=operator(Scope.HEALTH))
async def league(page_context: PageContext) -> Outcome:
    """Show the members of a role by what they delivered in a month."""
    return await _league_page(page_context, operator_path(_WORD))


@page.get("/entity/{entity_id:str}/levels/league", gate=READER)
async def own_league(page_context: PageContext) -> Outcome:
    """Show the same table to a member, where the operator says so."""
    shown = await page_context.tx.service(LevelService).rule_now(page_context.now)
    if not shown.league:
        return NO_LEAGUE
    return await _league_page(page_context, member_path(page_context.member.entity_id, _WORD))


async def _league_page(page_context: PageContext, path: str) -> Outcome:
    service, query = page_context.tx.service(LevelService), page_context.query
    zone = ZoneInfo(service.zone)
    last = month_name(month_before(page_context.now, zone), zone)
    known = await service.league_months()
    newest = known[0] if known else last
    typed = {"month": query.get("month") or newest, "role": query.get("role") or "FIP"}
    asked = decode_struct(typed, LeagueParameters)
    if isinstance(asked, InvalidField):
        return asked
    places = await service.league(service.month(asked.month), EntityType(asked.role))
    export = PLACES.export(places, query)
    if export is not None:
        return export
    view = PLACES.view(places, query)
    facts = {
        "path": path,
        "view": view,
        "month": asked.month,
        "months": known if asked.month in known else [asked.month, *known],
        "is_empty": not known,
        "first": None if known else await _first(page_context, service),
        "role": asked.role,
    }
    return RenderedPage("league.html", facts)


async def _first(page_context: PageContext, service: LevelService) -> tuple[str, datetime]:
    """Returns the month that has the first table, and when its reports are made."""
    zone = ZoneInfo(service.zone)
    last = month_before(page_context.now, zone)
    is_reported = await service.reports.has_reports(last)
    first = last if is_reported else month_of(page_context.now, zone)
    return month_name(first, zone), made_after(first)


def _whole(text: str) -> int | str:
    """Returns a whole number, or what was typed: the field is refused then."""
    short = text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS
    return int(text) if short else text


handlers: Final[list[ControllerRouterHandler]] = [
    *(set_target, end_target, set_rule),
    *(league, own_league),
]
