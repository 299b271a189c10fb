"""The ports of alarms by email to storage."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from mudra.metrics.notifications.alarm_mail import (
    Called,
    Habits,
    HeldAlarm,
    History,
    Mailing,
    Reader,
)
from mudra.metrics.notifications.preferences import AlarmPreferences


class AlarmPreferenceStore(Protocol):
    """People's preferences."""

    async def of(self, user_id: str) -> AlarmPreferences:
        """Returns a person's preferences, the usual ones where none were chosen."""
        ...

    async def set(self, user_id: str, preferences: AlarmPreferences) -> None:
        """Stores a person's preferences."""
        ...


class AlarmMails(Protocol):
    """The readers of alarms, what each was sent, and what waits."""

    async def readers(
        self, entity_ids: Collection[str], user_ids: Collection[str]
    ) -> Sequence[Reader]:
        """Returns admins of these entities, operators who want alarms, and these people.

        No one whose account is disabled; of entities, those of `entity_ids`.
        """
        ...

    async def followers(self, fip_ids: Collection[str]) -> Mapping[str, Sequence[str]]:
        """Returns the active FIUs that follow each of these FIPs."""
        ...

    async def called(self, entity_ids: Collection[str]) -> Mapping[str, Called]:
        """Returns the names and telephone numbers of these members."""
        ...

    async def habits(self, addresses: Collection[str]) -> Mapping[str, Habits]:
        """Returns the time zones and languages of those addresses that have an account."""
        ...

    async def due(self, now: datetime) -> Sequence[HeldAlarm]:
        """Returns what has waited long enough."""
        ...

    async def waiting(
        self, user_ids: Collection[str], incident_ids: Collection[str]
    ) -> Sequence[HeldAlarm]:
        """Returns what waits for these people about these incidents."""
        ...

    async def history(
        self, user_ids: Collection[str], incident_ids: Collection[str], since: datetime
    ) -> Mapping[str, History]:
        """Returns what people know of these incidents, and their emails since a moment."""
        ...

    async def save(self, user_id: str, mailing: Mailing, now: datetime) -> None:
        """Records what a person is sent now, what waits, and what no longer does."""
        ...

    async def forget(self, user_ids: Collection[str]) -> None:
        """Drops what waits for people who no longer read alarms."""
        ...
