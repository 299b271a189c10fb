"""The alarms that each person wants, by email or a webhook of their own, and when."""

import enum
from datetime import UTC, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from msgspec import Struct

from mudra.localization.display_zone import zone_names
from mudra.localization.language import translatable
from mudra.metrics.notifications.severity import Severity
from mudra.metrics.payload.catalogue import TYPE_OF_API
from mudra.shared.refusal import PlainRefusal, RefusalKind, ValueRefused
from mudra.shared.time_text import INDIA

ALARM_APIS: Final = frozenset(TYPE_OF_API)
"""The codes of APIs as causes have them."""
_DAY: Final = timedelta(days=1)


class Channel(enum.StrEnum):
    """The way in which alarms reach a person."""

    EMAIL = "email"
    WEBHOOK = "webhook"
    """The person's own webhook."""
    BOTH = "both"
    NONE = "none"

    @property
    def has_email(self) -> bool:
        """True when alarms come by email."""
        return self in {Channel.EMAIL, Channel.BOTH}

    @property
    def has_webhook(self) -> bool:
        """True when alarms are posted to the person's own webhook."""
        return self in {Channel.WEBHOOK, Channel.BOTH}


class AlarmPreferences(Struct, frozen=True):
    """One person's. `of_members` is the least severity of alarms about their own entities.

    `of_network` is that of alarms about the whole network, for operators with the scope health.
    None means no alarms. `apis` are the codes of the APIs that they want alarms about, empty for
    all of them. Quiet hours are in the person's own zone; what reaches `breaks_quiet`
    comes then too, the rest in one email or message at their end.
    """

    time_zone: str = INDIA
    quiet_from: time | None = None
    quiet_until: time | None = None
    breaks_quiet: Severity | None = Severity.CRITICAL
    of_members: Severity | None = Severity.MINOR
    of_network: Severity | None = Severity.MAJOR
    channel: Channel = Channel.EMAIL
    apis: frozenset[str] = frozenset()
    level_reports: bool = False
    """Whether the monthly reports of service levels come by email."""

    @property
    def zone(self) -> ZoneInfo:
        """The person's time zone."""
        return ZoneInfo(self.time_zone)

    def wants(self, apis: frozenset[str]) -> bool:
        """Returns whether alarms about these APIs are wanted; a silent agent's are about none."""
        return not self.apis or not apis or not self.apis.isdisjoint(apis)

    def is_woken_by(self, severity: Severity) -> bool:
        """Returns whether an alarm of this severity comes in quiet hours too."""
        return self.breaks_quiet is not None and severity.at_least(self.breaks_quiet)


USUAL: Final = AlarmPreferences()


NO_OWN_WEBHOOK: Final = PlainRefusal(
    RefusalKind.CONFLICT, translatable("channel needs a webhook of your own: add its address first")
)


def checked(preferences: AlarmPreferences) -> AlarmPreferences | ValueRefused:
    """Returns the preferences, or which field is wrong."""
    if preferences.time_zone not in zone_names():
        return ValueRefused("timeZone", "must be a time zone such as Asia/Kolkata or UTC")
    if not preferences.apis <= ALARM_APIS:
        return ValueRefused("apis", f"must be some of {', '.join(sorted(ALARM_APIS))}")
    begins, ends = preferences.quiet_from, preferences.quiet_until
    if (begins is None) != (ends is None):
        missing = "quietFrom" if begins is None else "quietUntil"
        return ValueRefused(missing, "must be given with the other end of the quiet hours")
    if begins is not None and begins == ends:
        return ValueRefused("quietUntil", "must differ from quietFrom")
    return preferences


def quiet_end(preferences: AlarmPreferences, now: datetime) -> datetime | None:
    """Returns when the quiet hours end in which `now` lies; None outside of them.

    By the wall clock of the person's zone, also on days on which it is changed.
    """
    begins, ends = preferences.quiet_from, preferences.quiet_until
    if begins is None or ends is None:
        return None
    local = now.astimezone(preferences.zone)
    at = local.time().replace(tzinfo=None)
    inside = begins <= at < ends if begins < ends else at >= begins or at < ends
    if not inside:
        return None
    day = local.date() if at < ends else local.date() + _DAY
    end = datetime.combine(day, ends, preferences.zone)
    # A wall time that comes twice ends with its second one; one that is left out, after the gap.
    return max(end.replace(fold=fold).astimezone(UTC) for fold in (0, 1))
