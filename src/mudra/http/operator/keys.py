"""/operator/v1/keys: the signing keys with who fetched them, and their rotation (scope keys)."""

from collections.abc import Sequence
from typing import Final

from litestar import Response, get, post
from litestar.types import ControllerRouterHandler

from mudra.audit.event import Caller
from mudra.http.account.people_requests import NoParameters
from mudra.http.auth.as_operator import as_operator
from mudra.http.auth.operator_access import find_operator
from mudra.http.dependencies import InjectedDependencies
from mudra.http.openapi.operation import described
from mudra.http.operator.shapes import KeysResponse, RotationRequest, RotationResponse
from mudra.http.request.envelope import Body
from mudra.http.request.request_context import AnyRequest, receive_json, receive_query
from mudra.http.response.json_response import HandlerResult, refusal, success
from mudra.identity.operators.operator import Operator, Scope
from mudra.shared.refusal import Refusal
from mudra.shared.time_text import iso_ms
from mudra.tokens.issuing.claims import TokenKind
from mudra.tokens.ports import KeyFetch
from mudra.tokens.signing_keys.key_lifecycle import SigningKey
from mudra.tokens.signing_keys.rotate_keys import KeyChange
from mudra.unit_of_work import UnitOfWork


@get("/keys", operation_class=described("List signing keys", None, KeysResponse, bearer=True))
async def list_keys(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """List the signing keys, where each stands in its life, and who fetched it how often."""
    context, order = receive_query(request, service, NoParameters)

    async def act(work: UnitOfWork, _: Caller, _order: NoParameters) -> HandlerResult:
        now, fetches = await work.people.now(), await work.key_fetches.fetches()
        return {
            "keys": [
                key_fields(key)
                | {"state": key.state(now).value, "fetches": fetches_of(key, fetches)}
                for key in await work.keys.all_keys()
            ]
        }

    return await as_operator(context, order, Scope.KEYS, act)


@post(
    "/keys/rotate",
    status_code=200,
    operation_class=described(
        "Rotate signing keys", RotationRequest, RotationResponse, bearer=True
    ),
)
async def rotate(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """Let the next keys sign once everybody can have fetched them; in an emergency, now."""
    context, order = await receive_json(request, service, RotationRequest)
    found = await find_operator(context, Scope.KEYS)
    if not isinstance(found, Operator):
        return refusal(context.envelope, found).response()
    if isinstance(order, Refusal):
        return refusal(context.envelope, order).response()
    kinds = frozenset([TokenKind(order.kind)] if order.kind else TokenKind)
    changes = await service.rotate_keys(
        kinds, context.caller(found.actor), emergency=order.emergency
    )
    members: Body = {"changes": [change_fields(change) for change in changes]}
    return success(context.envelope, members).response()


def key_fields(key: SigningKey) -> Body:
    """Write a key without its state, which is a matter of time."""
    return {
        "kid": key.kid,
        "kind": key.kind.value,
        "createdAt": iso_ms(key.created_at),
        "activeFrom": iso_ms(key.active_from) if key.active_from else "",
        "retiresAt": iso_ms(key.retires_at) if key.retires_at else "",
    }


def change_fields(change: KeyChange) -> Body:
    """Write one thing that was done to a key."""
    return {
        "kid": change.kid,
        "kind": change.kind.value,
        "event": change.event.value,
        "at": iso_ms(change.at),
    }


def fetches_of(key: SigningKey, fetches: Sequence[KeyFetch]) -> list[Body]:
    """Write who fetched a key how often; an empty entity ID stands for all strangers."""
    return [
        {
            "entityId": one.entity_id,
            "count": one.count,
            "firstAt": iso_ms(one.first_at),
            "lastAt": iso_ms(one.last_at),
        }
        for one in fetches
        if one.kid == key.kid
    ]


handlers: Final[list[ControllerRouterHandler]] = [list_keys, rotate]
