"""Operators and their scopes."""

from typing import Final

from litestar import Response, get, post
from litestar.types import ControllerRouterHandler

from mudra.console.framework.navigation import operator_path
from mudra.console.framework.page_context import Visit
from mudra.console.framework.page_guards import Fields, operator_act, operator_page
from mudra.console.framework.page_results import GoTo, Outcome, Shown
from mudra.console.pages.operator.labels import tone
from mudra.http.auth.operator_access import Operator
from mudra.http.dependencies import Injected
from mudra.http.operator.operators import set_scopes
from mudra.http.request.request_context import AnyRequest
from mudra.http.response.errors import problem_of
from mudra.identity.accounts.account_service import OperatorMade
from mudra.identity.memberships.memberships import Scope
from mudra.storage.identity.member_search import UserFilter

MOST: Final = 1000
SCOPES: Final = {
    Scope.MEMBERS: "onboard, suspend, admins, mail, operators",
    Scope.REGISTRY: "approve, reject, suspend and retire entries",
    Scope.HEALTH: "see the network's health, acknowledge incidents",
    Scope.KEYS: "see and rotate signing keys",
    Scope.AUDIT: "search and verify the audit",
}
TOLD: Final = {
    "invited": "The operator is made and gets a mail with a link.",
    "changed": "The scopes are changed; they hold from the next click on.",
}


@get("/operator/people", include_in_schema=False)
async def operators(request: AnyRequest, service: Injected) -> Response[str] | Response[bytes]:
    """List operators."""

    async def look(visit: Visit) -> Outcome:
        return await _page(visit)

    return await operator_page(request, service, Scope.MEMBERS, look)


@post("/operator/people", include_in_schema=False)
async def set_operator(request: AnyRequest, service: Injected) -> Response[str] | Response[bytes]:
    """Make an operator, or set its scopes anew."""

    async def do(visit: Visit, fields: Fields) -> Outcome:
        scopes = frozenset(scope for scope in Scope if fields.get(scope.value) == "on")
        operator = Operator(visit.user.user_id, visit.user.email, visit.scopes)
        outcome = await set_scopes(
            visit.work,
            operator,
            fields.get("email", ""),
            fields.get("name", ""),
            scopes,
            visit.caller,
        )
        if not isinstance(outcome, OperatorMade):
            return await _page(visit, outcome)
        return GoTo(operator_path(f"people?told={'invited' if outcome.invited else 'changed'}"))

    return await operator_act(request, service, Scope.MEMBERS, do)


async def _page(visit: Visit, refusal: object | None = None) -> Shown:
    rows = await visit.work.directory.users(UserFilter(operators_only=True), "", MOST)
    problem = None if refusal is None else problem_of(refusal)
    return Shown(
        "operator_people.html",
        {
            "operators": rows,
            "scopes": SCOPES,
            "mine": visit.scopes,
            "tone": tone,
            "told": TOLD.get(visit.query.get("told", ""), "") if problem is None else "",
            "problem": problem.sentence if problem else "",
        },
        status=problem.status if problem else 200,
    )


handlers: Final[list[ControllerRouterHandler]] = [operators, set_operator]
