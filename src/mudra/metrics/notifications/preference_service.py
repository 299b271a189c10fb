"""Choices of people about their alarms, and the FIPs that a FIU follows (0041)."""

from msgspec import Struct

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.metrics.notifications.alarm_mail_store import AlarmPreferenceStore, FollowedFips
from mudra.metrics.notifications.preferences import NO_OWN_WEBHOOK, AlarmPreferences, checked
from mudra.metrics.notifications.severity import Severity
from mudra.metrics.notifications.webhook import MAX_FIPS, Owner, fips_refused
from mudra.metrics.notifications.webhook_store import Webhooks
from mudra.metrics.ports import CountAlone, Members
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


class FollowService(Struct, frozen=True):
    """Reads and changes what a FIU follows, in the caller's transaction, with an audit entry."""

    store: FollowedFips
    members: Members
    audit_log: AuditLog
    count_alone: CountAlone

    async def of(self, entity_id: str) -> frozenset[str]:
        """Returns the FIPs that an entity follows; none for all of them."""
        return frozenset(await self.store.of(entity_id))

    async def change(
        self, entity_id: str, fip_id: str, caller: Caller, *, follow: bool
    ) -> PlainRefusal | None:
        """Follows a FIP, or no longer; refuses what is no FIP, and more than 500.

        Again changes nothing, and has no audit entry.
        """
        if follow:
            refused = await self._refused(entity_id, fip_id)
            if refused is not None:
                return refused
            changed = await self.store.add(entity_id, fip_id)
        else:
            changed = await self.store.remove(entity_id, fip_id)
        if not changed:
            return None
        detail = {"fipId": fip_id, "follows": "yes" if follow else "no"}
        await self.audit_log.append(
            AuditEntry(EventName.METRICS_FIPS_FOLLOW, caller, entity_id, detail=detail)
        )
        return None

    async def _refused(self, entity_id: str, fip_id: str) -> PlainRefusal | None:
        if not await self.members.is_fiu(entity_id):
            return fips_refused("may be followed by a FIU only")
        if fip_id not in await self.members.onboarded_fips():
            return fips_refused("must be FIPs of this network")
        await self.count_alone(f"follows:{entity_id}")
        known = await self.store.of(entity_id)
        if len(known) >= MAX_FIPS and fip_id not in known:
            return fips_refused(f"must be at most {MAX_FIPS} FIPs")
        return None
