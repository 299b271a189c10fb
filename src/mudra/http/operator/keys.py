"""/operator/v1/keys: the signing keys with who fetched them, and their rotation (scope keys)."""

from collections.abc import Sequence
from typing import Final

from litestar.types import ControllerRouterHandler

from mudra.http.auth.gates import OperatorCall, operator
from mudra.http.operator.shapes import (
    KeyChangeResponse,
    KeyFetchResponse,
    KeysResponse,
    RotationRequest,
    RotationResponse,
    SigningKeyResponse,
)
from mudra.http.request.fields import NoParameters
from mudra.http.response.http_refusals import InvalidField
from mudra.http.route import get, post
from mudra.identity.accounts.people_store import People
from mudra.identity.operators.operator import Scope
from mudra.shared.refusal import Refusal
from mudra.shared.time_text import iso_ms
from mudra.tokens.claims import TokenKind
from mudra.tokens.signing_keys.signing_key_service import (
    KEY_CHANGE_S,
    KeyChange,
    KeyDetails,
    SigningKeyService,
)


@get("/keys", "List signing keys", gate=operator(Scope.KEYS))
async def list_keys(call: OperatorCall[NoParameters]) -> KeysResponse:
    """List the signing keys, the state of each, and who fetched it how often."""
    keys = await call.tx.service(SigningKeyService).list(await People(call.tx).now())
    return KeysResponse(keys=[_key(one) for one in keys])


@post("/keys/rotate", "Rotate signing keys", gate=operator(Scope.KEYS), within_s=KEY_CHANGE_S)
async def rotate(call: OperatorCall[RotationRequest]) -> RotationResponse | Refusal:
    """Let the next keys sign once everyone can have fetched them; in an emergency, now."""
    changes = await _changes(call)
    if isinstance(changes, Refusal):
        return changes
    return RotationResponse(
        changes=[
            KeyChangeResponse(
                kid=one.kid, kind=one.kind.value, event=one.event.value, at=iso_ms(one.at)
            )
            for one in changes
        ]
    )


async def _changes(call: OperatorCall[RotationRequest]) -> Sequence[KeyChange] | Refusal:
    body, keys = call.body, call.tx.service(SigningKeyService)
    if (body.kid or body.all) and not body.emergency:
        return InvalidField("kid and all must be left out without emergency")
    if body.kid and body.all:
        return InvalidField("kid must be left out with all, which drops every key")
    if body.again and not body.all:
        return InvalidField("again must be left out without all")
    kinds = frozenset([TokenKind(body.kind)] if body.kind else TokenKind)
    now = await People(call.tx).now()
    if body.kid:
        return await keys.drop_key(body.kid, kinds, call.caller, now)
    if body.all:
        return await keys.drop_all(kinds, call.caller, now, again=body.again)
    return await keys.rotate(kinds, call.caller, now, emergency=body.emergency)


def _key(details: KeyDetails) -> SigningKeyResponse:
    key = details.key
    return SigningKeyResponse(
        kid=key.kid,
        kind=key.kind.value,
        created_at=iso_ms(key.created_at),
        active_from=iso_ms(key.active_from) if key.active_from else "",
        retires_at=iso_ms(key.retires_at) if key.retires_at else "",
        state=details.state.value,
        fetches=[
            KeyFetchResponse(
                entity_id=one.entity_id,
                count=one.count,
                first_at=iso_ms(one.first_at),
                last_at=iso_ms(one.last_at),
            )
            for one in details.fetches
        ],
    )


handlers: Final[list[ControllerRouterHandler]] = [list_keys, rotate]
