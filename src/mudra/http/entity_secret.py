"""POST /entity/secret/read, /reset (spec 4.2, 4.3) and /retire."""

from litestar import Response, post

from mudra.http.answer import refusal, success
from mudra.http.bearer import SignedInUser, authorization_of, signed_in_user
from mudra.http.envelope import Body, iso_ms
from mudra.http.errors import is_refusal
from mudra.http.exchange import AnyRequest, Exchange, address_of, receive_json
from mudra.http.openapi import described
from mudra.http.requests import EntitySecretReadRequest, EntitySecretResetRequest
from mudra.http.responses import (
    EntitySecretReadResponse,
    EntitySecretResetResponse,
    EntitySecretRetireResponse,
)
from mudra.http.secret_reset import reset_and_tell
from mudra.http.service import Injected
from mudra.runtime.work import Work
from mudra.tokens.claims import epoch_ms
from mudra.tokens.manage_secret import (
    ResetOrder,
    SecretShown,
    read_secret,
    retire_old_secret,
)
from mudra.tokens.secret import EntitySecret


@post(
    "/entity/secret/read",
    status_code=200,
    operation_class=described(
        "Read the entity's secret", EntitySecretReadRequest, EntitySecretReadResponse, bearer=True
    ),
)
async def read(request: AnyRequest, service: Injected) -> Response[bytes]:
    """Show the current secret to an admin of the entity."""
    exchange, order = await receive_json(request, service, EntitySecretReadRequest)
    if not isinstance(order, EntitySecretReadRequest):
        return refusal(exchange.envelope, order).response()
    async with service.open_work() as work:
        admin = await _admin(exchange, work)
        shown = (
            await read_secret(
                order.entity_id,
                admin.user.administers,
                exchange.caller(f"user:{admin.user.user_id}"),
                work.secrets,
                work.journal,
            )
            if isinstance(admin, SignedInUser)
            else admin
        )
    if not isinstance(shown, SecretShown):
        return refusal(exchange.envelope, shown).response()
    members = _members(shown)
    if shown.in_grace is not None and shown.in_grace.grace_until is not None:
        members["oldSecretExpirationDate"] = iso_ms(shown.in_grace.grace_until)
    return success(exchange.envelope, members).response()


@post(
    "/entity/secret/reset",
    status_code=200,
    operation_class=described(
        "Replace the entity's secret",
        EntitySecretResetRequest,
        EntitySecretResetResponse,
        bearer=True,
    ),
)
async def reset(request: AnyRequest, service: Injected) -> Response[bytes]:
    """Replace the secret: at most 5 times in 24 hours, 5 minutes apart."""
    exchange, order = await receive_json(request, service, EntitySecretResetRequest)
    if not isinstance(order, EntitySecretResetRequest):
        return refusal(exchange.envelope, order).response()
    async with service.reset_turns.of(order.entity_id), service.open_work() as work:
        admin = await _admin(exchange, work)
        shown = (
            await reset_and_tell(
                ResetOrder(order.entity_id, order.secret_expiry_days, order.old_secret_validity),
                admin.user,
                exchange.caller(f"user:{admin.user.user_id}"),
                work,
                service.random_bytes,
            )
            if isinstance(admin, SignedInUser)
            else admin
        )
    if is_refusal(shown):
        return refusal(exchange.envelope, shown).response()
    assert isinstance(shown, SecretShown)
    return success(exchange.envelope, _members(shown)).response()


@post(
    "/entity/secret/retire",
    status_code=200,
    operation_class=described(
        "End the grace period of the old secret early",
        EntitySecretReadRequest,
        EntitySecretRetireResponse,
        bearer=True,
        conflict=True,
    ),
)
async def retire(request: AnyRequest, service: Injected) -> Response[bytes]:
    """End the old secret's grace period now."""
    exchange, order = await receive_json(request, service, EntitySecretReadRequest)
    if not isinstance(order, EntitySecretReadRequest):
        return refusal(exchange.envelope, order).response()
    async with service.open_work() as work:
        admin = await _admin(exchange, work)
        old = (
            await retire_old_secret(
                order.entity_id,
                admin.user.administers,
                exchange.caller(f"user:{admin.user.user_id}"),
                work.secrets,
                work.journal,
            )
            if isinstance(admin, SignedInUser)
            else admin
        )
    if not isinstance(old, EntitySecret):
        return refusal(exchange.envelope, old).response()
    return success(
        exchange.envelope, {"entityId": old.entity_id, "oldSecretValidity": 0}
    ).response()


async def _admin(exchange: Exchange, work: Work) -> SignedInUser | object:
    header = authorization_of(exchange.request)
    return await signed_in_user(
        header,
        exchange.service,
        work,
        scheme_needed=False,
        address=address_of(exchange.request, exchange.service),
    )


def _members(shown: SecretShown) -> Body:
    secret = shown.secret
    return {
        "entityId": secret.entity_id,
        "secret": shown.text.reveal(),
        "expiresOn": epoch_ms(secret.expires_at),
        "expirationDate": iso_ms(secret.expires_at),
        "oldSecretValidity": shown.grace_days,
    }
