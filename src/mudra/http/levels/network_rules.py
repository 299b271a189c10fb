"""The rule of a network, error budgets, and the league table."""

from typing import Final

from litestar.handlers import HTTPRouteHandler

from mudra.http.auth.gates import EntityCall, OperatorCall, entity, operator
from mudra.http.levels.level_shapes import (
    BudgetsResponse,
    LeagueParameters,
    LeagueResponse,
    ReportsParameters,
    RuleRequest,
    RuleResponse,
    RulesResponse,
)
from mudra.http.request.fields import NoParameters
from mudra.http.response import conflicts
from mudra.http.route import get, post
from mudra.identity.accounts.people_store import People
from mudra.identity.operators.operator import Scope
from mudra.levels.budgets.budget_service import BudgetService
from mudra.levels.level_service import LevelService
from mudra.levels.printing.league import NO_LEAGUE
from mudra.shared.entity_type import EntityType
from mudra.shared.refusal import Refusal
from mudra.storage.database.deadline import PAGE_S
from mudra.storage.database.transaction import Transaction


@get("/operator/v1/levels/rule", "Show the rule of levels", gate=operator(Scope.HEALTH))
async def rule(call: OperatorCall[NoParameters]) -> RulesResponse:
    """Show the rule in force, and all that were ever set."""
    service, now = call.tx.service(LevelService), await People(call.tx).now()
    return RulesResponse(in_force=await service.rule_now(now), all=list(await service.rules()))


@post(
    "/operator/v1/levels/rule",
    "Set the rule of levels",
    conflicts=conflicts.RULE,
    gate=operator(Scope.HEALTH),
)
async def set_rule(call: OperatorCall[RuleRequest]) -> RuleResponse | Refusal:
    """Set the rule about maintenance, the league table and the public page from a day on.

    What is left out stays as it is by that day.
    """
    now, service = await People(call.tx).now(), call.tx.service(LevelService)
    asked = call.body.rule(await service.rules())
    outcome = await service.set_rule(asked, call.caller, now)
    return outcome if isinstance(outcome, Refusal) else RuleResponse(rule=outcome)


@get("/operator/v1/levels/budgets", "List error budgets", gate=operator(Scope.HEALTH))
async def budgets(call: OperatorCall[ReportsParameters]) -> BudgetsResponse:
    """List the budgets of the month that runs, of one member or all, the emptiest first."""
    which = call.body.entity_id if isinstance(call.body.entity_id, str) else None
    return await _budgets(call.tx, which)


@get("/levels/budgets", "List own error budgets", gate=entity())
async def own_budgets(call: EntityCall[NoParameters]) -> BudgetsResponse:
    """List the calling entity's budgets of the month that runs."""
    return await _budgets(call.tx, call.entity.entity_id)


@get(
    "/operator/v1/levels/league",
    "Show the league table",
    gate=operator(Scope.HEALTH),
    within_s=PAGE_S,
)
async def league(call: OperatorCall[LeagueParameters]) -> LeagueResponse:
    """Show the members of a role by what they delivered in a month, the best first."""
    return await _league(call.tx.service(LevelService), call.body)


@get(
    "/levels/league",
    "Show the league table to members",
    conflicts=conflicts.LEAGUE,
    gate=entity(),
    within_s=PAGE_S,
)
async def own_league(call: EntityCall[LeagueParameters]) -> LeagueResponse | Refusal:
    """Show the league table to a member; 404 in a network where the operator shows none."""
    service = call.tx.service(LevelService)
    shown = await service.rule_now(await People(call.tx).now())
    return await _league(service, call.body) if shown.league else NO_LEAGUE


async def _budgets(tx: Transaction, entity_id: str | None) -> BudgetsResponse:
    now = await People(tx).now()
    found = await tx.service(BudgetService).of_now(now, entity_id=entity_id)
    return BudgetsResponse(budgets=list(found))


async def _league(service: LevelService, asked: LeagueParameters) -> LeagueResponse:
    found = await service.league(service.month(asked.month), EntityType(asked.role))
    return LeagueResponse(places=list(found))


operator_handlers: Final[list[HTTPRouteHandler]] = [rule, set_rule, budgets, league]
member_handlers: Final[list[HTTPRouteHandler]] = [own_budgets, own_league]
