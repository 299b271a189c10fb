"""/operator/v1/operators: create an operator, change its scopes (scope members)."""

from typing import Annotated, Final, Literal

from litestar.types import ControllerRouterHandler
from msgspec import Meta, Struct, field

from mudra.http.auth.gates import OperatorCall, operator
from mudra.http.request.fields import Email, Name
from mudra.http.response import conflicts
from mudra.http.response.response_body import ResponseBody
from mudra.http.route import post
from mudra.identity.operators.manage_operators import change_scopes
from mudra.identity.operators.operator import Scope
from mudra.shared.refusal import Refusal

_ScopeName = Annotated[
    Literal["members", "registry", "health", "keys", "audit"],
    Meta(description="members, registry, health, keys or audit"),
]


class OperatorRequest(Struct, frozen=True):
    """Create an operator, or change its scopes; no scope ends the role."""

    email: Annotated[Email, Meta(examples=["leela@network.example"])]
    scopes: Annotated[
        list[_ScopeName],
        Meta(max_length=5, description="a list of scopes", examples=[["health"]]),
    ]
    name: Annotated[Name, Meta(examples=["Leela Nair"])] = ""


class OperatorResponse(ResponseBody, kw_only=True):
    """An operator after the call."""

    user_id: str = field(name="userId")
    email: str
    scopes: list[str]
    invited: bool
    tokens_ended: int = field(name="tokensEnded")


@post(
    "/operators",
    "Make an operator",
    conflicts=conflicts.MAKE_OPERATOR,
    gate=operator(Scope.MEMBERS),
)
async def save_operator(call: OperatorCall[OperatorRequest]) -> OperatorResponse | Refusal:
    """Create an operator and invite it, or change its scopes, effective from the next request."""
    sent, scopes = call.body, frozenset(map(Scope, call.body.scopes))
    outcome = await change_scopes(call.tx, call.by, sent.email, sent.name, scopes)
    if isinstance(outcome, Refusal):
        return outcome
    return OperatorResponse(
        user_id=outcome.user.user_id,
        email=outcome.user.email,
        scopes=sorted(scope.value for scope in outcome.scopes),
        invited=outcome.invited,
        tokens_ended=outcome.tokens_ended,
    )


handlers: Final[list[ControllerRouterHandler]] = [save_operator]
