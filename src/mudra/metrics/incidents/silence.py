"""Silences: times in which nobody is woken about some subjects.

Incidents are found, shown and counted as ever; only mails and webhooks wait.
An incident that goes on when its silence ends is told then, one that came and
went within it is not told at all.
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
"""A silence that is forgotten must end by itself."""
FARTHEST: Final = timedelta(days=366)
MAX_REASON: Final = 500
CODES: Final = frozenset(str(code) for code in RequestType if code not in TIMINGS)
"""The two timings cannot fail, so there are no incidents of them."""


class Silence(Struct, frozen=True):
    """From `begins` until before `ends`. An empty `entity_id` or `type` stands for all."""

    silence_id: str
    entity_id: str
    type: str
    begins: datetime
    ends: datetime
    reason: str
    made_by: str

    def covers(self, subject: Subject, now: datetime) -> bool:
        """Tell whether nobody is to be woken about a subject now."""
        name = name_of(subject)
        return (
            self.begins <= now < self.ends
            and self.entity_id in {"", name.entity_id}
            and self.type in {"", name.type}
        )


class WantedSilence(Struct, frozen=True):
    """What somebody asks for; without `begins` it begins at once."""

    entity_id: str
    type: str
    begins: datetime | None
    ends: datetime
    reason: str


class SilenceRefused(Refusal, frozen=True):
    """One member is wrong."""

    field: str
    problem: str


def begun(
    wanted: WantedSilence, silence_id: str, made_by: str, now: datetime
) -> Silence | SilenceRefused:
    """Make the silence; one that was to begin in the past begins now."""
    begins = max(wanted.begins or now, now)
    reason = wanted.reason.strip()
    if wanted.type and wanted.type not in CODES:
        return SilenceRefused("type", f"must be empty or one of {', '.join(sorted(CODES))}")
    if begins - now > FARTHEST:
        return SilenceRefused("begins", f"must be at most {FARTHEST.days} days from now")
    if wanted.ends <= begins:
        return SilenceRefused("ends", "must be later than now and than begins")
    if wanted.ends - begins > MAX_LENGTH:
        return SilenceRefused("ends", f"must be at most {MAX_LENGTH.days} days after begins")
    if not reason or len(reason) > MAX_REASON:
        return SilenceRefused("reason", f"must be a text of 1 to {MAX_REASON} characters")
    if any(unicodedata.category(one) in {"Cc", "Cs"} for one in reason):
        return SilenceRefused("reason", "must be one line without control characters")
    return Silence(silence_id, wanted.entity_id, wanted.type, begins, wanted.ends, reason, made_by)


def silent(subject: Subject, silences: Iterable[Silence], now: datetime) -> bool:
    """Tell whether any of these silences covers a subject now."""
    return any(one.covers(subject, now) for one in silences)
