"""Reading and changing one's own alarm preferences."""

from msgspec import Struct

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.metrics.notifications.alarm_mail_store import AlarmPreferenceStore
from mudra.metrics.notifications.preferences import NO_OWN_WEBHOOK, AlarmPreferences, checked
from mudra.metrics.notifications.severity import Severity
from mudra.metrics.notifications.webhook import Owner
from mudra.metrics.notifications.webhook_store import Webhooks
from mudra.shared.refusal import PlainRefusal, ValueRefused


class AlarmPreferenceService(Struct, frozen=True):
    """Each person's own, in the caller's transaction; a change has its audit entry."""

    store: AlarmPreferenceStore
    webhooks: Webhooks
    audit_log: AuditLog

    async def of(self, user_id: str) -> AlarmPreferences:
        """Returns a person's preferences, the usual ones where none were chosen."""
        return await self.store.of(user_id)

    async def set(
        self, user_id: str, wanted: AlarmPreferences, caller: Caller
    ) -> AlarmPreferences | ValueRefused | PlainRefusal:
        """Replaces a person's preferences; alarms that wait already come when they were to."""
        preferences = checked(wanted)
        if isinstance(preferences, ValueRefused):
            return preferences
        has_webhook = bool(await self.webhooks.list(Owner(user_id=user_id)))
        if preferences.channel.has_webhook and not has_webhook:
            return NO_OWN_WEBHOOK
        await self.store.set(user_id, preferences)
        detail = {
            "channel": preferences.channel.value,
            "timeZone": preferences.time_zone,
            "ofMembers": _word(preferences.of_members),
            "ofNetwork": _word(preferences.of_network),
            "apis": ",".join(sorted(preferences.apis)) or "all",
            "levelReports": "yes" if preferences.level_reports else "no",
        }
        await self.audit_log.append(AuditEntry(EventName.USER_ALARMS_CHANGE, caller, detail=detail))
        return preferences


def _word(severity: Severity | None) -> str:
    return severity.value if severity else "none"
