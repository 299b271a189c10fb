"""Silences: times in which no alarms are sent about some subjects.

Incidents are detected, shown and counted as always; only emails and webhook messages are held
back. If an incident continues when its silence ends, alerts resume then; one that began and
ended within the silence causes no alert.
"""

import unicodedata
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from mudra.metrics.incidents.incident import Subject
from mudra.metrics.incidents.subject import name_of
from mudra.metrics.payload.catalogue import TIMINGS, RequestType
from mudra.shared.refusal import Refusal

MAX_LENGTH: Final = timedelta(days=30)
"""A forgotten silence must end without anyone's help."""
MAX_LEAD_TIME: Final = timedelta(days=366)
MAX_REASON: Final = 500
CODES: Final = frozenset(str(code) for code in RequestType if code not in TIMINGS)
"""The two timings cannot fail, so no incident is about them."""


class Silence(Struct, frozen=True):
    """From `begins` until before `ends`. An empty `entity_id` or `type` means all."""

    silence_id: str
    entity_id: str
    type: str
    begins: datetime
    ends: datetime
    reason: str
    made_by: str

    def covers(self, subject: Subject, now: datetime) -> bool:
        """Returns whether alarms about a subject are silenced now."""
        name = name_of(subject)
        return (
            self.begins <= now < self.ends
            and self.entity_id in {"", name.entity_id}
            and self.type in {"", name.type}
        )


class SilenceCommand(Struct, frozen=True):
    """A silence to start; without `begins` it starts immediately."""

    entity_id: str
    type: str
    begins: datetime | None
    ends: datetime
    reason: str


class SilenceRefused(Refusal, frozen=True):
    """One field is invalid."""

    field: str
    problem: str


def new_silence(
    command: SilenceCommand, silence_id: str, made_by: str, now: datetime
) -> Silence | SilenceRefused:
    """Returns the silence; one that should start in the past starts now."""
    begins = max(command.begins or now, now)
    reason = command.reason.strip()
    if command.type and command.type not in CODES:
        return SilenceRefused("type", f"must be empty or one of {', '.join(sorted(CODES))}")
    if begins - now > MAX_LEAD_TIME:
        return SilenceRefused("begins", f"must be at most {MAX_LEAD_TIME.days} days from now")
    if command.ends <= begins:
        return SilenceRefused("ends", "must be later than now and than begins")
    if command.ends - begins > MAX_LENGTH:
        return SilenceRefused("ends", f"must be at most {MAX_LENGTH.days} days after begins")
    if not reason or len(reason) > MAX_REASON:
        return SilenceRefused("reason", f"must be a text of 1 to {MAX_REASON} characters")
    if any(unicodedata.category(one) in {"Cc", "Cs"} for one in reason):
        return SilenceRefused("reason", "must be one line without control characters")
    return Silence(
        silence_id, command.entity_id, command.type, begins, command.ends, reason, made_by
    )


def is_silenced(subject: Subject, silences: Iterable[Silence], now: datetime) -> bool:
    """Returns whether any of these silences covers a subject now."""
    return any(silence.covers(subject, now) for silence in silences)
