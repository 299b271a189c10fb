"""/operator/v1/keys: the signing keys with who fetched them, and their rotation (scope keys)."""

from typing import Final

from litestar import Response, get, post
from litestar.types import ControllerRouterHandler

from mudra.audit.event import Caller
from mudra.http.auth.as_operator import as_operator
from mudra.http.dependencies import InjectedDependencies
from mudra.http.openapi.operation import described
from mudra.http.operator.shapes import (
    KeyChangeResponse,
    KeyFetchResponse,
    KeysResponse,
    RotationRequest,
    RotationResponse,
    SigningKeyResponse,
)
from mudra.http.request.fields import NoParameters
from mudra.http.request.request_context import AnyRequest, receive_json, receive_query
from mudra.http.response.json_response import HandlerResult
from mudra.identity.operators.operator import Scope
from mudra.shared.time_text import iso_ms
from mudra.tokens.issuing.claims import TokenKind
from mudra.tokens.signing_keys.signing_key_service import KEY_CHANGE_S, KeyDetails
from mudra.unit_of_work import UnitOfWork


@get("/keys", operation_class=described("List signing keys", None, KeysResponse, bearer=True))
async def list_keys(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """List the signing keys, the state of each, and who fetched it how often."""
    context, received = receive_query(request, service, NoParameters)

    async def handle(work: UnitOfWork, _: Caller, _received: NoParameters) -> HandlerResult:
        keys = await work.signing_keys.list(await work.people.now())
        return KeysResponse(keys=[_key(one) for one in keys])

    return await as_operator(context, received, Scope.KEYS, handle)


@post(
    "/keys/rotate",
    status_code=200,
    operation_class=described(
        "Rotate signing keys", RotationRequest, RotationResponse, bearer=True
    ),
)
async def rotate(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """Let the next keys sign once everyone can have fetched them; in an emergency, now."""
    context, received = await receive_json(request, service, RotationRequest)

    async def handle(work: UnitOfWork, caller: Caller, received: RotationRequest) -> HandlerResult:
        changes = await work.signing_keys.rotate(
            frozenset([TokenKind(received.kind)] if received.kind else TokenKind),
            caller,
            await work.people.now(),
            emergency=received.emergency,
        )
        return RotationResponse(
            changes=[
                KeyChangeResponse(
                    kid=one.kid, kind=one.kind.value, event=one.event.value, at=iso_ms(one.at)
                )
                for one in changes
            ]
        )

    return await as_operator(context, received, Scope.KEYS, handle, within_s=KEY_CHANGE_S)


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
