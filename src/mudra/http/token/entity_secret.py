"""/entity/secret: /read and /reset (spec 4.2, 4.3), /retire and /use."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from datetime import datetime
from typing import Any, Final

from litestar.types import ControllerRouterHandler
from msgspec import UNSET

from mudra.http.auth.bearer import verified_bearer
from mudra.http.auth.gates import SIGNED_IN, UserCall, UserGate
from mudra.http.endpoint import Opening
from mudra.http.request.request_context import RequestContext
from mudra.http.response import conflicts
from mudra.http.route import get, post
from mudra.http.token.requests import EntityQuery, EntitySecretReadRequest, EntitySecretResetRequest
from mudra.http.token.responses import (
    AddressUseResponse,
    EntitySecretReadResponse,
    EntitySecretResetResponse,
    EntitySecretRetireResponse,
    EntitySecretUseResponse,
    SecretUseResponse,
)
from mudra.shared.refusal import Refusal
from mudra.shared.time_text import iso_ms
from mudra.tokens.claims import epoch_ms
from mudra.tokens.secrets.old_secret_use import SecretUse, last_use_sentence
from mudra.tokens.secrets.secret import EntitySecret
from mudra.tokens.secrets.secret_service import ResetCommand, SecretService

_MAX_ADDRESSES: Final = 20
_WITH_BARE_TOKEN: Final = UserGate(scheme_needed=False)


class _InTurn(UserGate, frozen=True):
    """Lets resets of one entity wait for each other before they take a connection."""

    @asynccontextmanager
    async def enter(
        self, context: RequestContext, received: object, opening: Opening
    ) -> AsyncIterator[UserCall[Any] | Refusal]:
        """Refuse anyone without a valid token at once: no one waits behind them."""
        token = await verified_bearer(context, scheme_needed=self.scheme_needed)
        turn: AbstractAsyncContextManager[bool | None] = nullcontext()
        if isinstance(received, EntitySecretResetRequest) and not isinstance(token, Refusal):
            turn = context.dependencies.reset_turns.turn(received.entity_id)
        async with turn, super().enter(context, received, opening) as call:
            yield call


@post("/entity/secret/read", "Read the entity's secret", gate=_WITH_BARE_TOKEN)
async def read(call: UserCall[EntitySecretReadRequest]) -> EntitySecretReadResponse | Refusal:
    """Return the current secret to an admin of the entity."""
    details = await call.tx.service(SecretService).read(call.body.entity_id, call.user, call.caller)
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


@post("/entity/secret/reset", "Replace the entity's secret", gate=_InTurn(scheme_needed=False))
async def reset(call: UserCall[EntitySecretResetRequest]) -> EntitySecretResetResponse | Refusal:
    """Replace the secret: at most 5 times in 24 hours, 5 minutes apart."""
    command = ResetCommand(
        call.body.entity_id, call.body.secret_expiry_days, call.body.old_secret_validity
    )
    details = await call.tx.service(SecretService).reset(command, call.user, call.caller)
    if isinstance(details, Refusal):
        return details
    return EntitySecretResetResponse(
        entity_id=details.secret.entity_id,
        secret=details.text.reveal(),
        expires_on=epoch_ms(details.secret.expires_at),
        expiration_date=iso_ms(details.secret.expires_at),
        old_secret_validity=details.grace_days,
    )


@post(
    "/entity/secret/retire",
    "End the grace period of the old secret early",
    conflicts=conflicts.END_OLD_SECRET,
    gate=_WITH_BARE_TOKEN,
)
async def retire(call: UserCall[EntitySecretReadRequest]) -> EntitySecretRetireResponse | Refusal:
    """End the old secret's grace period now; 409 where no old secret is in one."""
    old = await call.tx.service(SecretService).retire(call.body.entity_id, call.user, call.caller)
    if isinstance(old, Refusal):
        return old
    return EntitySecretRetireResponse(entity_id=old.entity_id, old_secret_validity=0)


@get("/entity/secret/use", "When and from where the entity's secrets were used", gate=SIGNED_IN)
async def use(call: UserCall[EntityQuery]) -> EntitySecretUseResponse | Refusal:
    """Return the use of the current secret, and of the old one during its grace period."""
    usage = await call.tx.service(SecretService).usage(call.body.entity_id, call.user, call.caller)
    if isinstance(usage, Refusal):
        return usage
    current, old, now = usage.current, usage.old, usage.now
    return EntitySecretUseResponse(
        entity_id=call.body.entity_id,
        current=_use(current, usage.current_use, current.expires_at, now),
        old=_use(old, usage.old_use, old.grace_until, now)
        if old is not None and old.grace_until is not None
        else UNSET,
    )


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
