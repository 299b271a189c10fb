"""The choice of alarms that a person gets now, in one digest, or later.

Each incident once: what waits is replaced by what is known of the same incident later. Pure.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta, tzinfo
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from mudra.metrics.notifications.preferences import USUAL, AlarmPreferences, Channel, quiet_end
from mudra.metrics.notifications.severity import Severity
from mudra.metrics.notifications.webhook_formats import Format

SEPARATOR: Final = " | "
"""Between the lines of an email: its facts are one line each, and no name has it."""
MAX_LISTED: Final = 50
"""In one digest; it counts the others."""
MAX_WHOLE: Final = 10
"""A digest of more than so many gives their titles alone."""


class StormRule(Struct, frozen=True):
    """More alarms than so many within this time are a storm for one reader: one digest each."""

    alarms: int = 5
    within: timedelta = timedelta(minutes=10)


class OwnWebhook(Struct, frozen=True):
    """A person's own webhook: what it reads, and why its last message failed, if it did."""

    webhook_id: str
    format: Format
    problem: str = ""


class Called(Struct, frozen=True):
    """The name of a member and its telephone number, which may be empty."""

    name: str
    phone: str


class Habits(Struct, frozen=True):
    """The habits of the person at an address; `language` is empty for no choice."""

    zone: tzinfo = USUAL.zone
    language: str = ""


class Reader(Struct, frozen=True):
    """A person who may get alarms: as admin of some entities, and as operator."""

    user_id: str
    email: str
    preferences: AlarmPreferences
    entities: frozenset[str] = frozenset()
    is_operator: bool = False
    webhook: OwnWebhook | None = None
    language: str = ""
    """The tag of the language that they chose; empty for none."""

    @property
    def posts_to(self) -> OwnWebhook | None:
        """The webhook to which alarms are posted; None for none."""
        return self.webhook if self.preferences.channel.has_webhook else None

    @property
    def wants_email(self) -> bool:
        """True when alarms come by email: also in place of a webhook that is gone or fails."""
        channel, own = self.preferences.channel, self.posts_to
        return channel.has_email or (channel.has_webhook and (own is None or bool(own.problem)))

    def least(self, entity_id: str) -> Severity | None:
        """Returns from which severity on the person wants alarms about an entity; empty: of all.

        None for one that they do not want, or have no right to.
        """
        if self.preferences.channel is Channel.NONE:
            return None
        if entity_id:
            return self.preferences.of_members if entity_id in self.entities else None
        return self.preferences.of_network if self.is_operator else None


class PersonalAlarm(Struct, frozen=True):
    """An alarm in the words of one reader; `entity_id` says by which right, empty for operators.

    `over` when the incident has ended, `void` when there was none after all, or none of theirs.
    """

    incident_id: str
    """What it is about: an incident, or what else `page` shows."""
    entity_id: str
    severity: Severity
    title: str
    text: str
    over: bool = False
    void: bool = False
    is_worse: bool = False
    """Nothing for those who know of it."""
    at_once: str = ""
    """The headline of the FIPs that fell at once, if it is about one; of what has waited empty."""
    apis: frozenset[str] = frozenset()
    """What it is about; empty for all APIs, and for what has waited: it was wanted then."""
    page: str = ""
    """The page about it, below the console; empty for an incident, which has one of its own."""


class MemberAlarm(Struct, frozen=True):
    """An alarm about a member that is about no incident, in the words of each reader."""

    about: str
    """The ID (a UUID) of what it is about: a later alarm about it takes the place of this one."""
    entity_id: str
    severity: Severity
    page: str
    words: Callable[[tzinfo], tuple[str, str]]
    """Returns title and text in the current language, with times in a zone."""


class HeldAlarm(Struct, frozen=True):
    """An alarm that waits, and until when."""

    user_id: str
    alarm: PersonalAlarm
    due: datetime


class History(Struct, frozen=True):
    """A reader's history: incidents, the number of alarms of late, and the digest of a storm."""

    incidents: frozenset[str] = frozenset()
    alarms: int = 0
    storm_at: datetime | None = None


class Mailing(Struct, frozen=True):
    """The emails to one reader: emails of their own, one digest, what waits and what no longer."""

    alone: tuple[PersonalAlarm, ...] = ()
    digest: tuple[PersonalAlarm, ...] = ()
    is_storm: bool = False
    """The digest is one of a storm: what follows waits for the next."""
    held: tuple[HeldAlarm, ...] = ()
    dropped: tuple[str, ...] = ()


def mailing_of(
    reader: Reader,
    new: Sequence[PersonalAlarm],
    waiting: Sequence[HeldAlarm],
    history: History,
    now: datetime,
    rule: StormRule,
) -> Mailing:
    """Decides about new alarms, and about all that wait for this reader."""
    held = {one.alarm.incident_id: one for one in waiting}
    unwanted = {key for key, one in held.items() if not _is_wanted(reader, one.alarm, history)}
    fresh: dict[str, PersonalAlarm] = {}
    for one in new:
        known = one.incident_id in history.incidents
        if one.is_worse and known:
            continue
        if one.void and not known:
            unwanted.add(one.incident_id)
        elif _is_wanted(reader, one, history) and (
            known or one.incident_id in held or not one.over
        ):
            fresh[one.incident_id] = one
    due = [
        one.alarm
        for key, one in held.items()
        if key not in unwanted and key not in fresh and one.due <= now
    ]
    quiet = quiet_end(reader.preferences, now)
    ready: list[PersonalAlarm] = []
    later: list[HeldAlarm] = []
    for one in (*due, *fresh.values()):
        if quiet is None or reader.preferences.is_woken_by(one.severity):
            ready.append(one)
        else:
            later.append(HeldAlarm(reader.user_id, one, quiet))
    mailing = _by_storm(reader, ready, history, now, rule, waited=len(due) > 0)
    return replace(mailing, held=(*later, *mailing.held), dropped=tuple(unwanted))


def _by_storm(
    reader: Reader,
    ready: Sequence[PersonalAlarm],
    history: History,
    now: datetime,
    rule: StormRule,
    *,
    waited: bool,
) -> Mailing:
    if not ready:
        return Mailing()
    if history.storm_at is not None and now < history.storm_at + rule.within:
        until = history.storm_at + rule.within
        return Mailing(held=tuple(HeldAlarm(reader.user_id, one, until) for one in ready))
    is_storm = history.alarms + len(ready) > rule.alarms
    together = Counter(one.at_once for one in ready if one.at_once)
    if is_storm or any(count > 1 for count in together.values()) or (waited and len(ready) > 1):
        return Mailing(digest=tuple(ready), is_storm=is_storm)
    return Mailing(alone=tuple(ready))


def _is_wanted(reader: Reader, alarm: PersonalAlarm, history: History) -> bool:
    """An end is wanted by those who got the beginning, however mild the incident was at last."""
    least = reader.least(alarm.entity_id)
    is_end = alarm.over and alarm.incident_id in history.incidents
    if least is None:
        return False
    return is_end or (alarm.severity.at_least(least) and reader.preferences.wants(alarm.apis))
