"""/operator/v1/operators: make an operator, set its scopes (scope members)."""

from typing import Final

from litestar import Response, post
from litestar.types import ControllerRouterHandler

from mudra.audit.event import Caller
from mudra.http.auth.bearer import verified_bearer
from mudra.http.auth.operator_access import calling_operator
from mudra.http.dependencies import InjectedDependencies
from mudra.http.openapi.operation import described
from mudra.http.operator.shapes import OperatorRequest, OperatorResponse
from mudra.http.request.request_context import AnyRequest, receive_json
from mudra.http.response.json_response import refusal, success
from mudra.identity.accounts.account_service import OperatorMade
from mudra.identity.accounts.email_address import normalise_email
from mudra.identity.operators.operator import Operator, Scope, may_change_scopes
from mudra.shared.refusal import Refusal
from mudra.unit_of_work import UnitOfWork


@post(
    "/operators",
    status_code=200,
    operation_class=described(
        "Make an operator", OperatorRequest, OperatorResponse, bearer=True, conflict=True
    ),
)
async def make_operator(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """Make an operator and invite it, or set its scopes anew; they hold from the next request."""
    context, order = await receive_json(request, service, OperatorRequest)
    token = await verified_bearer(context)
    async with service.unit_of_work() as work:
        found = await calling_operator(token, context, work, Scope.MEMBERS)
        outcome: object = order if isinstance(found, Operator) else found
        if isinstance(found, Operator) and isinstance(order, OperatorRequest):
            scopes = frozenset(Scope(word) for word in order.scopes)
            outcome = await set_scopes(
                work, found, order.email, order.name, scopes, context.caller(found.actor)
            )
    if not isinstance(outcome, OperatorMade):
        assert isinstance(outcome, Refusal)
        return refusal(context.envelope, outcome).response()
    return success(
        context.envelope,
        {
            "userId": outcome.user.user_id,
            "email": outcome.user.email,
            "scopes": sorted(scope.value for scope in outcome.scopes),
            "invited": outcome.invited,
        },
    ).response()


async def set_scopes(  # what the use case needs, and who asks
    work: UnitOfWork,
    operator: Operator,
    email: str,
    name: str,
    scopes: frozenset[Scope],
    caller: Caller,
) -> object:
    """Set an operator's scopes, unless this operator may not give or take them."""
    address = normalise_email(email)
    user = await work.people.by_username(address) if isinstance(address, str) else None
    former = await work.memberships.scopes(user.user_id) if user else frozenset()
    own = user is not None and user.user_id == operator.user_id
    barred = may_change_scopes(operator.scopes, former, scopes, own=own)
    return barred or await work.accounts.make_operator(email, name, scopes, caller)


handlers: Final[list[ControllerRouterHandler]] = [make_operator]
