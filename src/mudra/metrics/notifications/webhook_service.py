"""Adding, removing and listing webhooks."""

import builtins
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.identity.memberships.admins import no_such_entity
from mudra.metrics.notifications.webhook import (
    ALREADY_ADDED,
    MAX_FIPS,
    MESSAGE_WAITS,
    PREVIOUS_KEY_FOR,
    TEST,
    AddedWebhook,
    Attempt,
    Event,
    NoSuchEvent,
    NoSuchWebhook,
    Owner,
    TooManyWebhooks,
    Webhook,
    body_of_test,
    fips_refused,
    new_signing_key,
    too_many_resends,
    too_many_tests,
)
from mudra.metrics.notifications.webhook_formats import Format
from mudra.metrics.notifications.webhook_store import Webhooks
from mudra.metrics.ports import CountAlone, Members
from mudra.shared.refusal import PlainRefusal, ValueRefused


class WebhookService(Struct, frozen=True):
    """Changes webhooks in the caller's transaction, each with its audit entry."""

    store: Webhooks
    members: Members
    audit_log: AuditLog
    count_alone: CountAlone
    test_wait_s: Callable[[str], Awaitable[int]]
    """Counts a test message of an owner; returns 0, or the seconds until the next is permitted."""
    new_id: Callable[[], str]
    random_bytes: Callable[[int], bytes]
    url_problem: Callable[[str], str | None]
    """Returns why messages cannot be sent to an address; None when they can."""
    console: str
    """The address of the console."""

    async def list(self, owner: Owner | None = None) -> Sequence[Webhook]:
        """Returns the webhooks of an owner, or all but people's own; oldest first."""
        return await self.store.list(owner)

    async def add(
        self,
        owner: Owner,
        url: str,
        caller: Caller,
        now: datetime,
        *,
        fips: Sequence[str] = (),
        format_: Format = Format.STANDARD,
    ) -> AddedWebhook | ValueRefused | TooManyWebhooks | PlainRefusal:
        """Adds an address, with a new key that signs its messages.

        With `fips`, which only a FIU may name, it receives the incidents of these FIPs.
        """
        problem = self.url_problem(url)
        if problem is not None:
            return ValueRefused("url", problem)
        entity_id = owner.entity_id
        if entity_id and not await self.members.is_member(entity_id):
            return no_such_entity(entity_id)
        if fips and (refused := await self._refused(entity_id, fips)):
            return refused
        await self.count_alone(f"webhooks:{owner.entity_id or owner.user_id}")
        known, named = await self.store.list(owner), tuple(sorted(set(fips)))
        if len(known) >= owner.most:
            return TooManyWebhooks(owner.most)
        if any((one.url, one.fips, one.format) == (url, named, format_) for one in known):
            return ALREADY_ADDED
        webhook = Webhook(
            self.new_id(), entity_id, url, caller.actor, now, fips=named, format=format_,
            user_id=owner.user_id,
        )  # fmt: skip
        secret = new_signing_key(self.random_bytes)
        await self.store.add(webhook, secret)
        await self._audit(EventName.METRICS_WEBHOOK_ADD, webhook, caller)
        return AddedWebhook(webhook, secret)

    async def rotate(
        self, webhook_id: str, owner: Owner | None, caller: Caller, now: datetime
    ) -> AddedWebhook | NoSuchWebhook:
        """Makes a new key; the previous one signs as well for a day."""
        webhook = await self._find(webhook_id, owner)
        if webhook is None:
            return NoSuchWebhook()
        secret, until = new_signing_key(self.random_bytes), now + PREVIOUS_KEY_FOR
        await self.store.new_secret(webhook_id, secret, until)
        await self._audit(EventName.METRICS_WEBHOOK_ROTATE, webhook, caller)
        return AddedWebhook(replace(webhook, previous_until=until), secret)

    async def send_test(
        self, webhook_id: str, owner: Owner | None, caller: Caller, now: datetime
    ) -> Webhook | NoSuchWebhook | PlainRefusal:
        """Queues a test message, one at a time: its delivery is listed like any other.

        They are counted by whose webhook it is, since a webhook is removed and added at will.
        """
        webhook = await self._find(webhook_id, owner)
        if webhook is None:
            return NoSuchWebhook()
        counted = f"webhook-test:{webhook.entity_id or webhook.user_id}"
        await self.count_alone(counted)
        if await self.store.has_waiting(webhook_id, TEST):
            return MESSAGE_WAITS
        wait_s = await self.test_wait_s(counted)
        if wait_s:
            return too_many_tests(wait_s)
        await self.store.post_to(webhook_id, TEST, body_of_test(webhook, now, self.console), now)
        await self._audit(EventName.METRICS_WEBHOOK_TEST, webhook, caller)
        return replace(webhook, waiting=webhook.waiting + 1)

    async def attempts(
        self, webhook_id: str, owner: Owner | None
    ) -> builtins.list[Attempt] | NoSuchWebhook:
        """Returns the latest deliveries and failures, the newest first."""
        if await self._find(webhook_id, owner) is None:
            return NoSuchWebhook()
        return builtins.list(await self.store.attempts(webhook_id))

    async def events(
        self, webhook_id: str, owner: Owner | None
    ) -> builtins.list[Event] | NoSuchWebhook:
        """Returns the latest events with their bodies, the newest first."""
        if await self._find(webhook_id, owner) is None:
            return NoSuchWebhook()
        return builtins.list(await self.store.events(webhook_id))

    async def resend(
        self, webhook_id: str, message_id: str, owner: Owner | None, caller: Caller, now: datetime
    ) -> Webhook | NoSuchWebhook | NoSuchEvent | PlainRefusal:
        """Sends an event that is over once more, under the same ID.

        Limited as test messages are, by whose webhook it is.
        """
        webhook = await self._find(webhook_id, owner)
        if webhook is None:
            return NoSuchWebhook()
        counted = f"webhook-resend:{webhook.entity_id or webhook.user_id}"
        await self.count_alone(counted)
        if not any(
            one.message_id == message_id and one.over_at is not None
            for one in await self.store.events(webhook_id)
        ):
            return NoSuchEvent()
        wait_s = await self.test_wait_s(counted)
        if wait_s:
            return too_many_resends(wait_s)
        event = await self.store.resend(webhook_id, message_id, now)
        if event is None:
            return NoSuchEvent()
        detail = {"messageId": message_id, "event": event}
        await self._audit(EventName.METRICS_WEBHOOK_RESEND, webhook, caller, detail)
        return replace(webhook, waiting=webhook.waiting + 1)

    async def _find(self, webhook_id: str, owner: Owner | None) -> Webhook | None:
        found = await self.store.list(owner)
        return next((one for one in found if one.webhook_id == webhook_id), None)

    async def _refused(self, entity_id: str, fips: Sequence[str]) -> PlainRefusal | None:
        if not await self.members.is_fiu(entity_id):
            return fips_refused("may be named for the webhook of a FIU only")
        if len(fips) > MAX_FIPS:
            return fips_refused(f"must be at most {MAX_FIPS} FIPs")
        unknown = sorted(set(fips) - await self.members.onboarded_fips())
        return fips_refused(f'must be FIPs: "{unknown[0]}" is no FIP') if unknown else None

    async def remove(
        self, webhook_id: str, owner: Owner | None, caller: Caller
    ) -> Webhook | NoSuchWebhook:
        """Removes a webhook of this owner (None: of any) with its undelivered messages."""
        removed = await self.store.remove(webhook_id, owner)
        if removed is None:
            return NoSuchWebhook()
        await self._audit(EventName.METRICS_WEBHOOK_REMOVE, removed, caller)
        return removed

    async def _audit(
        self,
        event: EventName,
        webhook: Webhook,
        caller: Caller,
        more: Mapping[str, str] | None = None,
    ) -> None:
        detail = {"webhookId": webhook.webhook_id, "url": webhook.shown_url, **(more or {})}
        if webhook.fips:
            detail["fips"] = str(len(webhook.fips))
        await self.audit_log.append(AuditEntry(event, caller, webhook.entity_id, detail=detail))
