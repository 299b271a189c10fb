"""When a maintenance that a member announces for itself begins, and how much there may be of it.

It hides the member's own faults. So it hides nothing that had begun before all could read of it.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from mudra.localization.language import translatable
from mudra.metrics.incidents.silence import (
    MAX_OWN,
    MAX_OWN_IN_A_WEEK,
    MAX_OWN_LENGTH,
    TOO_MANY_MAINTENANCES,
    TOO_MUCH_MAINTENANCE,
    Silence,
    SilenceCommand,
    new_silence,
)
from mudra.metrics.payload.catalogue import WINDOW, window_start
from mudra.shared.refusal import PlainRefusal, RefusalKind, ValueRefused

COUNTED_FOR: Final = timedelta(days=1)
"""How long one counts after it has begun, also one that was ended."""
WEEK: Final = timedelta(days=7)


HAS_BEGUN: Final = PlainRefusal(
    RefusalKind.CONFLICT,
    translatable(
        "the maintenance has begun: end it, and announce another one for the time that is left"
    ),
)


class MaintenanceChange(Struct, frozen=True):
    """The new values of a maintenance; None for what stays."""

    entity_id: str
    begins: datetime | None = None
    ends: datetime | None = None
    reason: str | None = None
    length: timedelta | None = None
    """In place of `ends`."""

    def applied_to(self, before: Silence) -> SilenceCommand:
        """Returns what is asked for: moved as a whole where only its begin is named."""
        begins = self.begins or before.begins
        ends = self.ends or begins + (self.length or before.ends - before.begins)
        reason = before.reason if self.reason is None else self.reason
        return SilenceCommand(self.entity_id, "", begins, ends, reason, maintenance=True)


def announcer_of(entity_id: str) -> str:
    """Returns who made a maintenance that a member announced, by whichever of its people."""
    return f"entity:{entity_id}"


def own_maintenance(
    command: SilenceCommand, silence_id: str, now: datetime
) -> Silence | ValueRefused:
    """Returns the maintenance that a member announces now."""
    begins = first_begin(command.begins, now)
    if command.ends <= begins:
        return ValueRefused(
            "ends", "must be later than begins, which is the start of the next window at least"
        )
    if command.ends - begins > MAX_OWN_LENGTH:
        return ValueRefused("ends", "must be at most 24 hours after begins")
    asked = replace(command, begins=begins)
    return new_silence(asked, silence_id, announcer_of(command.entity_id), now)


def with_notice_of(before: Silence, changed: Silence) -> Silence:
    """Returns it as announced when it was first, where no moment of it is new to its readers."""
    is_within = before.begins <= changed.begins and changed.ends <= before.ends
    return replace(changed, announced_at=before.announced_at) if is_within else changed


def first_begin(asked: datetime | None, now: datetime) -> datetime:
    """Returns when one that is announced now begins: with the next window at the earliest."""
    return max(asked or now, window_start(now) + WINDOW)


def over_limit(planned: Silence, own: Sequence[Silence], now: datetime) -> PlainRefusal | None:
    """Returns why one more, with these others, is too many, or too much of the time.

    One that was ended before it began hid nothing, and does not count.
    """
    others = [one for one in own if one.has_time]
    recent = [one for one in others if one.ends > now or one.begins > now - COUNTED_FOR]
    if len(recent) >= MAX_OWN:
        return TOO_MANY_MAINTENANCES
    if _most_in_a_week(planned, others) > MAX_OWN_IN_A_WEEK:
        return TOO_MUCH_MAINTENANCE
    return None


def _most_in_a_week(planned: Silence, own: Sequence[Silence]) -> timedelta:
    """Returns the most of any seven days that have a part of the planned one.

    The sum changes its slope only where seven days begin or end with one of them.
    """
    times = [_time_of(one) for one in (planned, *own)]
    weeks = {begins for begins, _ in times} | {ends - WEEK for _, ends in times}
    return max(
        sum((_part(one, week) for one in times), timedelta())
        for week in weeks
        if _part(times[0], week)
    )


def _time_of(one: Silence) -> tuple[datetime, datetime]:
    """Returns the time of one: a window at least, since a window that it touches is not judged."""
    return one.begins, max(one.ends, one.begins + WINDOW)


def _part(time: tuple[datetime, datetime], week: datetime) -> timedelta:
    begins, ends = time
    return max(min(ends, week + WEEK) - max(begins, week), timedelta())
