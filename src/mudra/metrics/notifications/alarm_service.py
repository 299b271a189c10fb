"""What people do about alarms: look after an incident, keep quiet, have programs told."""

import base64
from collections.abc import Callable
from datetime import datetime
from typing import Final

from msgspec import Struct

from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.audit.ports import AuditLog
from mudra.metrics.incidents.silence import Silence, SilenceRefused, WantedSilence, begun
from mudra.metrics.notifications.webhook import (
    MAX_OF_A_MEMBER,
    MAX_OF_THE_NETWORK,
    AddedWebhook,
    TooManyWebhooks,
    UrlRefused,
    Webhook,
)
from mudra.metrics.ports import Incidents, Members, Silences, Webhooks
from mudra.shared.refusal import Refusal
from mudra.shared.secret_text import SecretText

_KEY_BYTES: Final = 32
_KEY_PREFIX: Final = "whsec_"


class NoSuchIncident(Refusal, frozen=True):
    """None of this ID."""


class Acknowledged(Refusal, frozen=True):
    """Somebody has begun to look after the incident since the caller saw it."""

    by: str


class NoSuchSilence(Refusal, frozen=True):
    """None of this ID that is not over."""


class NoSuchWebhook(Refusal, frozen=True):
    """None of this ID, or another's."""


class NotAMember(Refusal, frozen=True):
    """Nobody was ever onboarded under this ID."""

    entity_id: str


class AlarmService(Struct, frozen=True):
    """Acts in the caller's transaction, each with its audit event."""

    incidents: Incidents
    silences: Silences
    webhooks: Webhooks
    members: Members
    journal: AuditLog
    new_id: Callable[[], str]
    random_bytes: Callable[[int], bytes]
    url_fault: Callable[[str], str | None]
    """Says what keeps messages from going to an address; None when nothing does."""

    async def acknowledge(
        self, incident_id: str, caller: Caller, *, instead_of: str | None = None
    ) -> NoSuchIncident | Acknowledged | None:
        """Note that the caller looks after an incident.

        `instead_of` is who did when the caller decided, empty for nobody; None takes it from
        anybody.
        """
        if not await self.incidents.acknowledge(incident_id, caller.actor, instead_of):
            stored = await self.incidents.one(incident_id)
            if stored is None:
                return NoSuchIncident()
            mine = stored.acknowledged_by == caller.actor
            return None if mine else Acknowledged(stored.owner)
        await self.journal.note(
            AuditEntry(EventName.METRICS_INCIDENT_ACKNOWLEDGE, caller, incident_id)
        )
        return None

    async def silence(
        self, wanted: WantedSilence, caller: Caller, now: datetime
    ) -> Silence | SilenceRefused | NotAMember:
        """Wake nobody about some subjects for some time."""
        if wanted.entity_id and not await self.members.is_member(wanted.entity_id):
            return NotAMember(wanted.entity_id)
        silence = begun(wanted, self.new_id(), caller.actor, now)
        if isinstance(silence, SilenceRefused):
            return silence
        await self.silences.keep(silence)
        detail = {"silenceId": silence.silence_id, "type": silence.type}
        times = {"begins": silence.begins.isoformat(), "ends": silence.ends.isoformat()}
        await self.journal.note(
            AuditEntry(
                EventName.METRICS_SILENCE_BEGIN,
                caller,
                silence.entity_id,
                reason=silence.reason,
                detail={**detail, **times},
            )
        )
        return silence

    async def end_silence(
        self, silence_id: str, caller: Caller, now: datetime
    ) -> Silence | NoSuchSilence:
        """End it now; what it kept quiet and still goes on is told then."""
        ended = await self.silences.end(silence_id, now)
        if ended is None:
            return NoSuchSilence()
        detail = {"silenceId": silence_id}
        await self.journal.note(
            AuditEntry(EventName.METRICS_SILENCE_END, caller, ended.entity_id, detail=detail)
        )
        return ended

    async def add_webhook(
        self, entity_id: str, url: str, caller: Caller, now: datetime
    ) -> AddedWebhook | UrlRefused | TooManyWebhooks | NotAMember:
        """Have messages sent to an address, with a new key that signs them."""
        fault = self.url_fault(url)
        if fault is not None:
            return UrlRefused(fault)
        if entity_id and not await self.members.is_member(entity_id):
            return NotAMember(entity_id)
        most = MAX_OF_A_MEMBER if entity_id else MAX_OF_THE_NETWORK
        if len(await self.webhooks.all(entity_id)) >= most:
            return TooManyWebhooks(most)
        webhook = Webhook(self.new_id(), entity_id, url, caller.actor, now)
        secret = SecretText(
            _KEY_PREFIX + base64.b64encode(self.random_bytes(_KEY_BYTES)).decode("ascii")
        )
        await self.webhooks.keep(webhook, secret)
        await self._note(EventName.METRICS_WEBHOOK_ADD, webhook, caller)
        return AddedWebhook(webhook, secret)

    async def remove_webhook(
        self, webhook_id: str, entity_id: str | None, caller: Caller
    ) -> Webhook | NoSuchWebhook:
        """Send nothing more there; `entity_id` is whose it must be, None for anybody's."""
        removed = await self.webhooks.remove(webhook_id, entity_id)
        if removed is None:
            return NoSuchWebhook()
        await self._note(EventName.METRICS_WEBHOOK_REMOVE, removed, caller)
        return removed

    async def _note(self, event: EventName, webhook: Webhook, caller: Caller) -> None:
        detail = {"webhookId": webhook.webhook_id, "url": webhook.url}
        await self.journal.note(AuditEntry(event, caller, webhook.entity_id, detail=detail))
