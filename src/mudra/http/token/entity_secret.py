"""POST /entity/secret/read, /reset (spec 4.2, 4.3) and /retire."""

from litestar import Response, post

from mudra.audit.event import Caller
from mudra.http.auth.as_user import as_user
from mudra.http.dependencies import InjectedDependencies
from mudra.http.openapi.operation import described
from mudra.http.request.envelope import Body
from mudra.http.request.request_context import AnyRequest, receive_json
from mudra.http.response.json_response import HandlerResult
from mudra.http.token.requests import EntitySecretReadRequest, EntitySecretResetRequest
from mudra.http.token.responses import (
    EntitySecretReadResponse,
    EntitySecretResetResponse,
    EntitySecretRetireResponse,
)
from mudra.http.token.secret_reset import reset_and_notify
from mudra.identity.accounts.user import User
from mudra.shared.time_text import iso_ms
from mudra.tokens.issuing.claims import epoch_ms
from mudra.tokens.secrets.manage_secret import (
    ResetCommand,
    SecretDetails,
    read_secret,
    retire_old_secret,
)
from mudra.tokens.secrets.secret import EntitySecret
from mudra.unit_of_work import UnitOfWork


@post(
    "/entity/secret/read",
    status_code=200,
    operation_class=described(
        "Read the entity's secret", EntitySecretReadRequest, EntitySecretReadResponse, bearer=True
    ),
)
async def read(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """Show the current secret to an admin of the entity."""
    context, order = await receive_json(request, service, EntitySecretReadRequest)

    async def act(
        work: UnitOfWork, caller: Caller, user: User, order: EntitySecretReadRequest
    ) -> HandlerResult:
        shown = await read_secret(
            order.entity_id, user.administers, caller, work.secrets, work.journal
        )
        if not isinstance(shown, SecretDetails):
            return shown
        members = _members(shown)
        if shown.in_grace is not None and shown.in_grace.grace_until is not None:
            members["oldSecretExpirationDate"] = iso_ms(shown.in_grace.grace_until)
        return members

    return await as_user(context, order, act, scheme_needed=False)


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
async def reset(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """Replace the secret: at most 5 times in 24 hours, 5 minutes apart."""
    context, order = await receive_json(request, service, EntitySecretResetRequest)

    async def act(
        work: UnitOfWork, caller: Caller, user: User, order: EntitySecretResetRequest
    ) -> HandlerResult:
        shown = await reset_and_notify(
            ResetCommand(order.entity_id, order.secret_expiry_days, order.old_secret_validity),
            user,
            caller,
            work,
            service.random_bytes,
        )
        return _members(shown) if isinstance(shown, SecretDetails) else shown

    if not isinstance(order, EntitySecretResetRequest):
        return await as_user(context, order, act, scheme_needed=False)
    async with service.reset_turns.of(order.entity_id):
        return await as_user(context, order, act, scheme_needed=False)


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
async def retire(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """End the old secret's grace period now."""
    context, order = await receive_json(request, service, EntitySecretReadRequest)

    async def act(
        work: UnitOfWork, caller: Caller, user: User, order: EntitySecretReadRequest
    ) -> HandlerResult:
        old = await retire_old_secret(
            order.entity_id, user.administers, caller, work.secrets, work.journal
        )
        if not isinstance(old, EntitySecret):
            return old
        return {"entityId": old.entity_id, "oldSecretValidity": 0}

    return await as_user(context, order, act, scheme_needed=False)


def _members(shown: SecretDetails) -> Body:
    secret = shown.secret
    return {
        "entityId": secret.entity_id,
        "secret": shown.text.reveal(),
        "expiresOn": epoch_ms(secret.expires_at),
        "expirationDate": iso_ms(secret.expires_at),
        "oldSecretValidity": shown.grace_days,
    }
