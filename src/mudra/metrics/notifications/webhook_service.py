"""Adding, removing and listing webhooks."""

import base64
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.audit.ports import AuditLog
from mudra.metrics.notifications.webhook import (
    MAX_FIPS,
    MAX_OF_A_MEMBER,
    MAX_OF_THE_NETWORK,
    AddedWebhook,
    FipsRefused,
    NoSuchWebhook,
    TooManyWebhooks,
    UrlRefused,
    Webhook,
)
from mudra.metrics.notifications.webhook_formats import Format
from mudra.metrics.ports import Members, NotAMember, Webhooks
from mudra.shared.secret_text import SecretText

_KEY_BYTES: Final = 32
_KEY_PREFIX: Final = "whsec_"


class WebhookService(Struct, frozen=True):
    """Changes webhooks in the caller's transaction, each with its audit entry."""

    store: Webhooks
    members: Members
    audit_log: AuditLog
    new_id: Callable[[], str]
    random_bytes: Callable[[int], bytes]
    url_problem: Callable[[str], str | None]
    """Returns why messages cannot be sent to an address; None when they can."""

    async def list(self, entity_id: str | None = None) -> Sequence[Webhook]:
        """Returns the webhooks of one entity (empty: of the network), or all; oldest first."""
        return await self.store.list(entity_id)

    async def add(
        self,
        entity_id: str,
        url: str,
        caller: Caller,
        now: datetime,
        *,
        fips: Sequence[str] = (),
        format_: Format = Format.STANDARD,
    ) -> AddedWebhook | UrlRefused | TooManyWebhooks | NotAMember | FipsRefused:
        """Adds an address, with a new key that signs its messages.

        With `fips`, which only a FIU may name, it receives the incidents of these FIPs.
        """
        problem = self.url_problem(url)
        if problem is not None:
            return UrlRefused(problem)
        if entity_id and not await self.members.is_member(entity_id):
            return NotAMember(entity_id)
        if fips and (refused := await self._refused(entity_id, fips)):
            return refused
        most = MAX_OF_A_MEMBER if entity_id else MAX_OF_THE_NETWORK
        if len(await self.store.list(entity_id)) >= most:
            return TooManyWebhooks(most)
        named = tuple(sorted(set(fips)))
        webhook = Webhook(
            self.new_id(), entity_id, url, caller.actor, now, fips=named, format=format_
        )
        secret = SecretText(
            _KEY_PREFIX + base64.b64encode(self.random_bytes(_KEY_BYTES)).decode("ascii")
        )
        await self.store.add(webhook, secret)
        await self._audit(EventName.METRICS_WEBHOOK_ADD, webhook, caller)
        return AddedWebhook(webhook, secret)

    async def _refused(self, entity_id: str, fips: Sequence[str]) -> FipsRefused | None:
        if not await self.members.is_fiu(entity_id):
            return FipsRefused("may be named for the webhook of a FIU only")
        if len(fips) > MAX_FIPS:
            return FipsRefused(f"must be at most {MAX_FIPS} FIPs")
        unknown = sorted(set(fips) - await self.members.onboarded_fips())
        return (
            FipsRefused(f"must be FIPs of this network, {unknown[0]} is none") if unknown else None
        )

    async def remove(
        self, webhook_id: str, entity_id: str | None, caller: Caller
    ) -> Webhook | NoSuchWebhook:
        """Removes a webhook of this entity (None: of any) with its undelivered messages."""
        removed = await self.store.remove(webhook_id, entity_id)
        if removed is None:
            return NoSuchWebhook()
        await self._audit(EventName.METRICS_WEBHOOK_REMOVE, removed, caller)
        return removed

    async def _audit(self, event: EventName, webhook: Webhook, caller: Caller) -> None:
        detail = {"webhookId": webhook.webhook_id, "url": webhook.shown_url}
        if webhook.fips:
            detail["fips"] = str(len(webhook.fips))
        await self.audit_log.append(AuditEntry(event, caller, webhook.entity_id, detail=detail))
