"""Operators and their scopes."""

from typing import Final

from litestar.types import ControllerRouterHandler

from mudra.console.framework import page
from mudra.console.framework.console_errors import page_problem, refusal_text
from mudra.console.framework.navigation import operator_path
from mudra.console.framework.page import Fields
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import GoTo, Outcome, RenderedPage
from mudra.console.framework.session.identity_proof import RECENT
from mudra.console.pages.operator.labels import tone
from mudra.http.auth.gates import operator
from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.refusals import NoSuchUser
from mudra.identity.memberships.member_search import UserFilter
from mudra.identity.memberships.member_search_store import MemberSearch
from mudra.identity.operators.manage_operators import change_scopes
from mudra.identity.operators.operator import Scope
from mudra.identity.second_factor.reset_factor import reset_factor
from mudra.localization.language import gettext, translatable
from mudra.shared.refusal import Refusal

MAX_COUNT: Final = 1000
SCOPES: Final = {
    Scope.MEMBERS: translatable("onboard, suspend, admins, email, operators"),
    Scope.REGISTRY: translatable("approve, reject, suspend and retire entries"),
    Scope.HEALTH: translatable("view the network's health, take incidents"),
    Scope.KEYS: translatable("view and rotate signing keys"),
    Scope.AUDIT: translatable("search and verify the audit"),
}
NOTICES: Final = {
    "invited": translatable("Operator added. They get an email with a link."),
    "changed": translatable("Scopes saved, effective immediately."),
    "ended": translatable("Scopes saved. Tokens that the person had before the role have ended."),
    "factor": translatable("Second factor reset. The person was signed out and gets an email."),
}


@page.get("/operator/people", gate=operator(Scope.MEMBERS))
async def operators(page_context: PageContext) -> Outcome:
    """List operators."""
    return await _page(page_context)


@page.post("/operator/people", gate=operator(Scope.MEMBERS), proof=RECENT)
async def set_operator(page_context: PageContext, fields: Fields) -> Outcome:
    """Create an operator, or change its scopes."""
    scopes = frozenset(scope for scope in Scope if fields.get(scope.value) == "on")
    outcome = await change_scopes(
        page_context.tx,
        page_context.acting_operator,
        fields.get("email", ""),
        fields.get("name", ""),
        scopes,
    )
    if isinstance(outcome, Refusal):
        return await _page(page_context, outcome)
    saved = "ended" if outcome.tokens_ended else "changed"
    return GoTo(operator_path(f"people?told={'invited' if outcome.invited else saved}"))


@page.post("/operator/people/second-factor", gate=operator(Scope.MEMBERS), proof=RECENT)
async def reset_second_factor(page_context: PageContext, fields: Fields) -> Outcome:
    """Reset the lost second factor of another operator."""
    person = await People(page_context.tx).by_username(fields.get("email", ""))
    if person is None:
        return await _page(page_context, NoSuchUser())
    outcome = await reset_factor(page_context.tx, page_context.acting_operator, person.user_id)
    if isinstance(outcome, Refusal):
        return await _page(page_context, outcome)
    return GoTo(operator_path("people?told=factor"))


async def _page(page_context: PageContext, refusal: Refusal | None = None) -> RenderedPage:
    rows = await MemberSearch(page_context.tx).users(UserFilter(operators_only=True), "", MAX_COUNT)
    problem = None if refusal is None else page_problem(refusal)
    return RenderedPage(
        "operator_people.html",
        {
            "operators": rows,
            "scopes": SCOPES,
            "mine": page_context.scopes,
            "tone": tone,
            "notice": gettext(NOTICES.get(page_context.query.get("told", ""), ""))
            if problem is None
            else "",
            "problem": refusal_text(refusal) if refusal else "",
        },
        status=problem.status if problem else 200,
    )


handlers: Final[list[ControllerRouterHandler]] = [operators, set_operator, reset_second_factor]
