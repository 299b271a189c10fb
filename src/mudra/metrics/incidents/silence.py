"""Silences: times in which no alarms are sent about some subjects.

Incidents are detected, shown and counted as always; only emails and webhook messages are held
back. If an incident continues when its silence ends, alerts resume then; one that began and
ended within the silence causes no alert.

A planned maintenance is a silence of a whole entity in which, besides, nothing is evaluated about
it: no incident opens, and nothing is learned as usual. What outlives it opens in the window after.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from mudra.metrics.incidents.incident import Subject
from mudra.metrics.incidents.subject import codes_of, name_of
from mudra.metrics.payload.catalogue import CALL_CODES, WINDOW
from mudra.shared.refusal import PlainRefusal, RefusalKind, ValueRefused
from mudra.shared.text.visible_text import first_unseen

MAX_LENGTH: Final = timedelta(days=30)
"""A forgotten silence must end without anyone's help."""
MAX_LEAD_TIME: Final = timedelta(days=366)
MAX_OWN_LENGTH: Final = timedelta(days=1)
"""Of a maintenance that a member announces for itself: it hides the member's own faults."""
MAX_OWN: Final = 10
"""A member's own that are active or scheduled, or began within a day."""
MAX_OWN_IN_A_WEEK: Final = timedelta(days=1)
"""Of a member's own, in any seven days."""
MAX_REASON: Final = 500
CODES: Final = frozenset(CALL_CODES)
"""The two timings cannot fail, so no incident is about them."""


class Silence(Struct, frozen=True):
    """A silence, from `begins` until before `ends`. An empty `entity_id` or `type` means all.

    With a `peer_id` it covers the path between the two entities alone. Without one it covers
    all of an entity, and so its paths.
    """

    silence_id: str
    entity_id: str
    type: str
    begins: datetime
    ends: datetime
    reason: str
    made_by: str
    peer_id: str = ""
    maintenance: bool = False
    ended_by: str = ""
    """Who ended it early; empty for one that ends by itself."""
    announced_at: datetime | None = None
    """When it was stored; None for one of which that is not known."""

    @property
    def has_time(self) -> bool:
        """Return whether any moment is in it: none is where it was ended before it began."""
        return self.begins < self.ends

    def covers(self, subject: Subject, now: datetime) -> bool:
        """Returns whether alarms about a subject are silenced now."""
        return self.begins <= now < self.ends and self.is_about(subject)

    def is_about(self, subject: Subject) -> bool:
        """Returns whether alarms about a subject are silenced while it is active."""
        name = name_of(subject)
        ends = {one for one in (name.entity_id, name.peer_id) if one}
        if self.peer_id:
            return ends == {self.entity_id, self.peer_id}
        return (not self.entity_id or self.entity_id in ends) and (
            not self.type or codes_of(subject) == {self.type}
        )


class SilenceCommand(Struct, frozen=True):
    """A silence to start; without `begins` it starts immediately."""

    entity_id: str
    type: str
    begins: datetime | None
    ends: datetime
    reason: str
    peer_id: str = ""
    maintenance: bool = False


TOO_MANY_MAINTENANCES: Final = PlainRefusal(
    RefusalKind.CONFLICT,
    f"{MAX_OWN} maintenances are active or scheduled, or began within 24 hours: "
    "end one that has not begun, or wait",
)


TOO_MUCH_MAINTENANCE: Final = PlainRefusal(
    RefusalKind.CONFLICT,
    "the maintenances of some 7 days would be more than 24 hours: announce a shorter or later one",
)


def new_silence(
    command: SilenceCommand, silence_id: str, made_by: str, now: datetime
) -> Silence | ValueRefused:
    """Returns the silence; one that should start in the past starts now."""
    begins = max(command.begins or now, now)
    reason = command.reason.strip()
    if command.type and command.type not in CODES:
        return ValueRefused("type", f"must be empty or one of {', '.join(sorted(CODES))}")
    if command.peer_id and (not command.entity_id or command.type):
        return ValueRefused("peerId", "needs an entityId and no type: it silences a path")
    if command.maintenance and (not command.entity_id or command.type or command.peer_id):
        return ValueRefused("maintenance", "needs an entityId, and neither a type nor a peerId")
    if begins - now > MAX_LEAD_TIME:
        return ValueRefused("begins", f"must be at most {MAX_LEAD_TIME.days} days from now")
    if command.ends <= begins:
        return ValueRefused("ends", "must be later than now and than begins")
    if command.ends - begins > MAX_LENGTH:
        return ValueRefused("ends", f"must be at most {MAX_LENGTH.days} days after begins")
    if not 0 < len(reason) <= MAX_REASON or not _is_plain(reason):
        return ValueRefused(
            "reason", f"must be one line of 1 to {MAX_REASON} characters, none of them control ones"
        )
    return Silence(
        silence_id,
        command.entity_id,
        command.type,
        begins,
        command.ends,
        reason,
        made_by,
        command.peer_id,
        command.maintenance,
        announced_at=now,
    )


def _is_plain(text: str) -> bool:
    return not first_unseen(text)


def is_silenced(subject: Subject, silences: Iterable[Silence], now: datetime) -> bool:
    """Returns whether any of these silences covers a subject now."""
    return any(silence.covers(subject, now) for silence in silences)


def maintained_in(window: datetime, silences: Iterable[Silence]) -> frozenset[str]:
    """Returns the entities with a planned maintenance in any part of this window.

    One that was ended before it began has no part in any.
    """
    return frozenset(
        one.entity_id
        for one in silences
        if one.maintenance and max(one.begins, window) < min(one.ends, window + WINDOW)
    )
