"""Operators and their scopes."""

from typing import Final

from litestar import Response, get, post
from litestar.types import ControllerRouterHandler

from mudra.console.framework.console_errors import page_problem
from mudra.console.framework.navigation import operator_path
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_guards import Fields, operator_act, operator_page
from mudra.console.framework.page_results import GoTo, Outcome, RenderedPage
from mudra.console.pages.operator.labels import tone
from mudra.http.dependencies import InjectedDependencies
from mudra.http.request.request_context import AnyRequest
from mudra.identity.memberships.member_search import UserFilter
from mudra.identity.operators.manage_operators import change_scopes
from mudra.identity.operators.operator import Operator, Scope
from mudra.shared.refusal import Refusal

MAX_COUNT: Final = 1000
SCOPES: Final = {
    Scope.MEMBERS: "onboard, suspend, admins, email, operators",
    Scope.REGISTRY: "approve, reject, suspend and retire entries",
    Scope.HEALTH: "view the network's health, acknowledge incidents",
    Scope.KEYS: "view and rotate signing keys",
    Scope.AUDIT: "search and verify the audit",
}
NOTICES: Final = {
    "invited": "Operator added. They get an email with a link.",
    "changed": "Scopes saved, effective immediately.",
}


@get("/operator/people", include_in_schema=False)
async def operators(
    request: AnyRequest, service: InjectedDependencies
) -> Response[str] | Response[bytes]:
    """List operators."""

    async def look(page_context: PageContext) -> Outcome:
        return await _page(page_context)

    return await operator_page(request, service, Scope.MEMBERS, look)


@post("/operator/people", include_in_schema=False)
async def set_operator(
    request: AnyRequest, service: InjectedDependencies
) -> Response[str] | Response[bytes]:
    """Create an operator, or change its scopes."""

    async def do(page_context: PageContext, fields: Fields) -> Outcome:
        scopes = frozenset(scope for scope in Scope if fields.get(scope.value) == "on")
        operator = Operator(page_context.user.user_id, page_context.user.email, page_context.scopes)
        outcome = await change_scopes(
            page_context.work,
            operator,
            fields.get("email", ""),
            fields.get("name", ""),
            scopes,
            page_context.caller,
        )
        if isinstance(outcome, Refusal):
            return await _page(page_context, outcome)
        return GoTo(operator_path(f"people?told={'invited' if outcome.invited else 'changed'}"))

    return await operator_act(request, service, Scope.MEMBERS, do)


async def _page(page_context: PageContext, refusal: Refusal | None = None) -> RenderedPage:
    rows = await page_context.work.member_search.users(
        UserFilter(operators_only=True), "", MAX_COUNT
    )
    problem = None if refusal is None else page_problem(refusal)
    return RenderedPage(
        "operator_people.html",
        {
            "operators": rows,
            "scopes": SCOPES,
            "mine": page_context.scopes,
            "tone": tone,
            "notice": NOTICES.get(page_context.query.get("told", ""), "")
            if problem is None
            else "",
            "problem": problem.sentence if problem else "",
        },
        status=problem.status if problem else 200,
    )


handlers: Final[list[ControllerRouterHandler]] = [operators, set_operator]
