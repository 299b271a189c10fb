"""/operator/v1/keys: the signing keys with who fetched them, and their rotation (scope keys)."""

from collections.abc import Sequence
from typing import Final

from litestar import Response, get, post
from litestar.types import ControllerRouterHandler

from mudra.audit.event import Caller
from mudra.bootstrap.unit_of_work import Work
from mudra.http.account.people_requests import NothingOrder
from mudra.http.auth.as_operator import operator_call
from mudra.http.auth.operator_access import Operator, found_operator
from mudra.http.dependencies import Injected
from mudra.http.openapi.operation import described
from mudra.http.operator.shapes import KeysAnswer, RotationAnswer, RotationOrder
from mudra.http.request.envelope import Body, iso_ms
from mudra.http.request.request_context import AnyRequest, receive_json, receive_query
from mudra.http.response.errors import is_refusal
from mudra.http.response.json_response import refusal, success
from mudra.identity.memberships.memberships import Scope
from mudra.tokens.issuing.claims import TokenKind
from mudra.tokens.signing_keys.key_fetch import KeyFetch
from mudra.tokens.signing_keys.key_lifecycle import SigningKey
from mudra.tokens.signing_keys.rotate_keys import KeyChange


@get("/keys", operation_class=described("List signing keys", None, KeysAnswer, bearer=True))
async def list_keys(request: AnyRequest, service: Injected) -> Response[bytes]:
    """List the signing keys, where each stands in its life, and who fetched it how often."""
    exchange, order = receive_query(request, service, NothingOrder)

    async def act(work: Work, _: Caller) -> object:
        now, fetches = await work.people.now(), await work.key_fetches.fetches()
        return {
            "keys": [
                key_members(key)
                | {"state": key.state(now).value, "fetches": fetches_of(key, fetches)}
                for key in await work.keys.all_keys()
            ]
        }

    return await operator_call(exchange, order, Scope.KEYS, act)


@post(
    "/keys/rotate",
    status_code=200,
    operation_class=described("Rotate signing keys", RotationOrder, RotationAnswer, bearer=True),
)
async def rotate(request: AnyRequest, service: Injected) -> Response[bytes]:
    """Let the next keys sign once everybody can have fetched them; in an emergency, now."""
    exchange, order = await receive_json(request, service, RotationOrder)
    found = await found_operator(exchange, Scope.KEYS)
    if not isinstance(found, Operator) or is_refusal(order):
        problem = order if isinstance(found, Operator) else found
        return refusal(exchange.envelope, problem).response()
    assert isinstance(order, RotationOrder)
    kinds = frozenset([TokenKind(order.kind)] if order.kind else TokenKind)
    changes = await service.rotate_keys(
        kinds, exchange.caller(found.actor), emergency=order.emergency
    )
    members: Body = {"changes": [change_members(change) for change in changes]}
    return success(exchange.envelope, members).response()


def key_members(key: SigningKey) -> Body:
    """Write a key without its state, which is a matter of time."""
    return {
        "kid": key.kid,
        "kind": key.kind.value,
        "createdAt": iso_ms(key.created_at),
        "activeFrom": iso_ms(key.active_from) if key.active_from else "",
        "retiresAt": iso_ms(key.retires_at) if key.retires_at else "",
    }


def change_members(change: KeyChange) -> Body:
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
