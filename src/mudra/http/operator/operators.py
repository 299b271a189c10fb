"""/operator/v1/operators: create an operator, change its scopes (scope members)."""

from typing import Annotated, Final, Literal

from litestar import Response, post
from litestar.types import ControllerRouterHandler
from msgspec import Meta, Struct, field

from mudra.http.auth.bearer import verified_bearer
from mudra.http.auth.operator_access import calling_operator
from mudra.http.dependencies import InjectedDependencies
from mudra.http.openapi.operation import described
from mudra.http.request.fields import Email, Name
from mudra.http.request.request_context import AnyRequest, receive_json
from mudra.http.response.json_response import HandlerResult, response_of
from mudra.http.response.response_body import ResponseBody
from mudra.identity.operators.manage_operators import OperatorSaved, change_scopes
from mudra.identity.operators.operator import Operator, Scope
from mudra.shared.refusal import Refusal

_ScopeName = Annotated[
    Literal["members", "registry", "health", "keys", "audit"],
    Meta(description="members, registry, health, keys or audit"),
]


class OperatorRequest(Struct, frozen=True):
    """Create an operator, or change its scopes; no scope ends the role."""

    email: Email
    scopes: Annotated[list[_ScopeName], Meta(max_length=5, description="a list of scopes")]
    name: Name = ""


class OperatorResponse(ResponseBody, kw_only=True):
    """An operator after the call."""

    user_id: str = field(name="userId")
    email: str
    scopes: list[str]
    invited: bool


@post(
    "/operators",
    status_code=200,
    operation_class=described(
        "Make an operator", OperatorRequest, OperatorResponse, bearer=True, conflict=True
    ),
)
async def save_operator(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """Create an operator and invite it, or change its scopes, effective from the next request."""
    context, received = await receive_json(request, service, OperatorRequest)
    token = await verified_bearer(context)
    outcome: HandlerResult
    async with service.unit_of_work() as work:
        operator = await calling_operator(token, context, work, Scope.MEMBERS)
        if not isinstance(operator, Operator):
            outcome = operator
        elif isinstance(received, Refusal):
            outcome = received
        else:
            scopes = frozenset(map(Scope, received.scopes))
            outcome = _response(
                await change_scopes(
                    work,
                    operator,
                    received.email,
                    received.name,
                    scopes,
                    context.caller(operator.actor),
                )
            )
    return response_of(context.envelope, outcome).response()


def _response(outcome: OperatorSaved | Refusal) -> HandlerResult:
    if isinstance(outcome, Refusal):
        return outcome
    return OperatorResponse(
        user_id=outcome.user.user_id,
        email=outcome.user.email,
        scopes=sorted(scope.value for scope in outcome.scopes),
        invited=outcome.invited,
    )


handlers: Final[list[ControllerRouterHandler]] = [save_operator]
