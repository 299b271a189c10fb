"""Faults of a sandbox: a member's page for its own, the same page of operators for any.

Mounted in the sandbox only.
"""

from typing import Final

from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from mudra.console.framework import page
from mudra.console.framework.console_errors import page_problem
from mudra.console.framework.navigation import FAULTS_ITEM, member_path, operator_path
from mudra.console.framework.page import Fields
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import GoTo, Outcome, RenderedPage
from mudra.console.framework.render import sentence
from mudra.demo.faults.fault import AMOUNTS, DESCRIPTIONS, FaultKind
from mudra.demo.faults.switch_faults import FaultActor, FaultService
from mudra.demo.faults.wire import FaultEndRequest, FaultRequest
from mudra.http.auth.gates import ADMIN, operator
from mudra.http.request.validation import decode_struct
from mudra.identity.operators.operator import Scope
from mudra.localization.language import translatable
from mudra.metrics.health.health_service import HealthService
from mudra.shared.refusal import Refusal

_MEMBER: Final = f"/entity/{{entity_id:str}}/{FAULTS_ITEM}"
_OPERATOR: Final = f"/operator/{FAULTS_ITEM}"
_LENGTHS: Final = {
    "PT10M": translatable("10 minutes"),
    "PT1H": translatable("1 hour"),
    "PT8H": translatable("8 hours"),
    "P1D": translatable("1 day"),
    "P7D": translatable("7 days"),
}
_TYPED: Final = {"entityId": "", "kind": "", "lasts": "PT1H"}
_AMOUNT: Final = "amount-"
"""Begins the name of the field of seconds of each fault that has them."""


@page.get(_MEMBER, gate=ADMIN)
async def own_faults(page_context: PageContext) -> Outcome:
    """Show the faults of an entity to its admins."""
    return await _page(page_context)


@page.post(_MEMBER, gate=ADMIN)
async def own_on(page_context: PageContext, fields: Fields, entity_id: FromPath[str]) -> Outcome:
    """Switch a fault of the entity on."""
    return await _on(page_context, {**fields, "entityId": entity_id})


@page.post(f"{_MEMBER}/end", gate=ADMIN)
async def own_end(page_context: PageContext, fields: Fields, entity_id: FromPath[str]) -> Outcome:
    """End a fault of the entity."""
    return await _end(page_context, {**fields, "entityId": entity_id})


@page.get(_OPERATOR, gate=operator(Scope.MEMBERS))
async def all_faults(page_context: PageContext) -> Outcome:
    """Show all faults in force to operators."""
    return await _page(page_context)


@page.post(_OPERATOR, gate=operator(Scope.MEMBERS))
async def any_on(page_context: PageContext, fields: Fields) -> Outcome:
    """Switch a fault of any entity on."""
    return await _on(page_context, fields)


@page.post(f"{_OPERATOR}/end", gate=operator(Scope.MEMBERS))
async def any_end(page_context: PageContext, fields: Fields) -> Outcome:
    """End a fault of any entity."""
    return await _end(page_context, fields)


async def _on(page_context: PageContext, fields: Fields) -> Outcome:
    amount = fields.get(f"{_AMOUNT}{fields.get('kind', '')}", "").strip()
    sign, digits = ("-", amount[1:]) if amount.startswith("-") else ("", amount)
    body = {**fields, "by": f"{sign}PT{digits}S" if amount else ""}
    received = decode_struct(body, FaultRequest)
    if isinstance(received, Refusal):
        return await _page(page_context, received, fields)
    outcome = await page_context.tx.service(FaultService).switch_on(
        received.wanted(), _actor(page_context)
    )
    if isinstance(outcome, Refusal):
        return await _page(page_context, outcome, fields)
    return GoTo(f"{_base(page_context)}?told=on")


async def _end(page_context: PageContext, fields: Fields) -> Outcome:
    received = decode_struct(dict(fields), FaultEndRequest)
    if isinstance(received, Refusal):
        return await _page(page_context, received)
    kind = FaultKind(received.kind) if received.kind else None
    outcome = await page_context.tx.service(FaultService).switch_off(
        received.entity_id, kind, _actor(page_context)
    )
    if isinstance(outcome, Refusal):
        return await _page(page_context, outcome)
    return GoTo(f"{_base(page_context)}?told=off")


async def _page(
    page_context: PageContext, refusal: Refusal | None = None, fields: Fields | None = None
) -> Outcome:
    """Show the page; with what was typed where it was refused."""
    actor, entity = _actor(page_context), page_context.entity
    active = await page_context.tx.service(FaultService).list(
        actor, entity.entity_id if entity else ""
    )
    if isinstance(active, Refusal):
        return active
    problem = page_problem(refusal) if refusal is not None else None
    names = {} if entity else await page_context.tx.service(HealthService).names()
    typed = {name: (fields or {}).get(name, kept)[:64] for name, kept in _TYPED.items()}
    return RenderedPage(
        "faults.html",
        {
            "active": active,
            "effects": DESCRIPTIONS,
            "amounts": {kind: one.meaning for kind, one in AMOUNTS.items()},
            "defaults": {kind: one.default for kind, one in AMOUNTS.items()},
            "member_names": names,
            "lengths": _LENGTHS,
            "typed": typed,
            "typed_amount": (fields or {}).get(f"{_AMOUNT}{typed['kind']}", "")[:64],
            "here_base": _base(page_context),
            "may_end_all": actor.is_operator,
            "problem": sentence(problem.sentence) if problem else "",
            "notice": page_context.query.get("told", ""),
        },
        problem.status if problem else 200,
    )


def _actor(page_context: PageContext) -> FaultActor:
    """Return who switches: on the page of an entity its admin, else the operator."""
    return FaultActor(
        page_context.caller, page_context.user.administers, page_context.entity is None
    )


def _base(page_context: PageContext) -> str:
    if page_context.entity is None:
        return operator_path(FAULTS_ITEM)
    return member_path(page_context.entity.entity_id, FAULTS_ITEM)


handlers: Final[list[ControllerRouterHandler]] = [
    own_faults,
    own_on,
    own_end,
    all_faults,
    any_on,
    any_end,
]
