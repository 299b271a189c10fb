"""/entity/secret: /read and /reset (spec 4.2, 4.3), /retire and /use."""

from datetime import datetime
from typing import Final

from litestar import Response, get, post
from litestar.types import ControllerRouterHandler
from msgspec import UNSET

from mudra.audit.event import Caller
from mudra.http.auth.as_user import as_user
from mudra.http.dependencies import InjectedDependencies
from mudra.http.openapi.operation import described
from mudra.http.request.request_context import AnyRequest, receive_json, receive_query
from mudra.http.response.json_response import HandlerResult
from mudra.http.token.requests import (
    EntityQuery,
    EntitySecretReadRequest,
    EntitySecretResetRequest,
)
from mudra.http.token.responses import (
    AddressUseResponse,
    EntitySecretReadResponse,
    EntitySecretResetResponse,
    EntitySecretRetireResponse,
    EntitySecretUseResponse,
    SecretUseResponse,
)
from mudra.identity.accounts.user import User
from mudra.shared.refusal import Refusal
from mudra.shared.time_text import iso_ms
from mudra.tokens.issuing.claims import epoch_ms
from mudra.tokens.secrets.old_secret_use import SecretUse, last_use_sentence
from mudra.tokens.secrets.secret import EntitySecret
from mudra.tokens.secrets.secret_service import ResetCommand
from mudra.unit_of_work import UnitOfWork

_MAX_ADDRESSES: Final = 20


@post(
    "/entity/secret/read",
    status_code=200,
    operation_class=described(
        "Read the entity's secret", EntitySecretReadRequest, EntitySecretReadResponse, bearer=True
    ),
)
async def read(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """Return the current secret to an admin of the entity."""
    context, received = await receive_json(request, service, EntitySecretReadRequest)

    async def handle(
        work: UnitOfWork, caller: Caller, user: User, received: EntitySecretReadRequest
    ) -> HandlerResult:
        details = await work.secret_service.read(received.entity_id, user, caller)
        if isinstance(details, Refusal):
            return details
        grace_until = details.in_grace.grace_until if details.in_grace else None
        return EntitySecretReadResponse(
            entity_id=details.secret.entity_id,
            secret=details.text.reveal(),
            expires_on=epoch_ms(details.secret.expires_at),
            expiration_date=iso_ms(details.secret.expires_at),
            old_secret_validity=details.grace_days,
            old_secret_expiration_date=iso_ms(grace_until) if grace_until else UNSET,
        )

    return await as_user(context, received, handle, scheme_needed=False)


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
    context, received = await receive_json(request, service, EntitySecretResetRequest)

    async def handle(
        work: UnitOfWork, caller: Caller, user: User, received: EntitySecretResetRequest
    ) -> HandlerResult:
        command = ResetCommand(
            received.entity_id, received.secret_expiry_days, received.old_secret_validity
        )
        details = await work.secret_service.reset(command, user, caller)
        if isinstance(details, Refusal):
            return details
        return EntitySecretResetResponse(
            entity_id=details.secret.entity_id,
            secret=details.text.reveal(),
            expires_on=epoch_ms(details.secret.expires_at),
            expiration_date=iso_ms(details.secret.expires_at),
            old_secret_validity=details.grace_days,
        )

    if isinstance(received, Refusal):
        return await as_user(context, received, handle, scheme_needed=False)
    async with service.reset_turns.of(received.entity_id):
        return await as_user(context, received, handle, scheme_needed=False)


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
    context, received = await receive_json(request, service, EntitySecretReadRequest)

    async def handle(
        work: UnitOfWork, caller: Caller, user: User, received: EntitySecretReadRequest
    ) -> HandlerResult:
        old = await work.secret_service.retire(received.entity_id, user, caller)
        if isinstance(old, Refusal):
            return old
        return EntitySecretRetireResponse(entity_id=old.entity_id, old_secret_validity=0)

    return await as_user(context, received, handle, scheme_needed=False)


@get(
    "/entity/secret/use",
    operation_class=described(
        "When and from where the entity's secrets were used",
        None,
        EntitySecretUseResponse,
        bearer=True,
        query=EntityQuery,
    ),
)
async def use(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """Return the use of the current secret, and of the old one during its grace period.

    An address of its own, so that the responses of specification 2.3 stay as they are.
    """
    context, received = receive_query(request, service, EntityQuery)

    async def handle(
        work: UnitOfWork, _: Caller, user: User, received: EntityQuery
    ) -> HandlerResult:
        usage = await work.secret_service.usage(received.entity_id, user)
        if isinstance(usage, Refusal):
            return usage
        current, old, now = usage.current, usage.old, usage.now
        return EntitySecretUseResponse(
            entity_id=received.entity_id,
            current=_use(current, usage.current_use, current.expires_at, now),
            old=_use(old, usage.old_use, old.grace_until, now)
            if old is not None and old.grace_until is not None
            else UNSET,
        )

    return await as_user(context, received, handle)


def _use(
    secret: EntitySecret, used: SecretUse, ends_at: datetime, now: datetime
) -> SecretUseResponse:
    return SecretUseResponse(
        version=secret.version,
        count=used.count,
        address_count=len(used.addresses),
        last_used_at=iso_ms(used.last_used_at) if used.last_used_at else UNSET,
        ends_at=iso_ms(ends_at),
        summary=last_use_sentence(used, now),
        addresses=[
            AddressUseResponse(
                address=one.address, count=one.count, last_used_at=iso_ms(one.last_used_at)
            )
            for one in used.addresses[:_MAX_ADDRESSES]
        ],
    )


handlers: Final[list[ControllerRouterHandler]] = [read, reset, retire, use]
