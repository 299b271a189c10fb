"""The severity of an incident: what people choose alarms by."""

import enum
from typing import Final

from mudra.localization.language import translatable
from mudra.metrics.incidents.incident import (
    HARM,
    AaReporting,
    Effect,
    Fip,
    FipApi,
    Incident,
    Network,
    Path,
)
from mudra.metrics.incidents.subject import codes_of
from mudra.metrics.payload.catalogue import RequestType


class Severity(enum.StrEnum):
    """The urgency of an incident, from the least to the most."""

    MINOR = translatable("minor")
    """Calls are slow or refused (4xx), heartbeats alone fail, an agent is silent, or of a FIP's
    calls fewer than one in ten fails, and not many in a window."""
    MAJOR = translatable("major")
    """Calls fail, or FI requests end without data."""
    CRITICAL = translatable("critical")
    """Of many calls half or more, for everyone who calls or is called; of very many a tenth.

    While the calls of one AA alone show it, or it may be between the two, it is major."""

    def at_least(self, other: "Severity") -> bool:
        """Returns whether this is as urgent as another or more."""
        order = list(Severity)
        return order.index(self) >= order.index(other)


_MANY: Final = 50
"""Failed calls of a window, five a minute, below which half of them is not critical."""
_MANY_OF_ALL: Final = 20
"""Where the whole network fails."""
_VERY_MANY: Final = 1_000
"""Failed calls of a window of which a tenth is critical, also on one path."""


def severity_of(incident: Incident) -> Severity:
    """Returns how bad an incident is, by its failed calls and their share."""
    cause = incident.cause
    if isinstance(incident.subject, AaReporting) or HARM.isdisjoint(cause.symptoms):
        return Severity.MINOR
    if codes_of(incident.subject) == {RequestType.HEARTBEAT.value}:
        return Severity.MINOR
    if incident.by_heartbeats:
        return Severity.MAJOR  # it may be down, but no one has tried
    failed = incident.eligible - incident.succeeded if incident.failing else 0
    # Of a window in which no customer called the cause counts heartbeats.
    of_window = min(cause.failures, failed) if incident.failing else cause.failures
    if of_window >= _VERY_MANY and 10 * of_window >= cause.calls:
        return Severity.CRITICAL
    many = _MANY_OF_ALL if isinstance(incident.subject, Network) else _MANY
    are_many = max(of_window, failed / max(incident.bad_windows, 1)) >= many
    is_at_fip = isinstance(incident.subject, Fip | FipApi)
    if is_at_fip and incident.effect is Effect.DEGRADED and not are_many:
        return Severity.MINOR
    of_one_pair = any(isinstance(one, Path) for one in (incident.subject, *cause.ambiguous_with))
    if of_one_pair or not are_many:
        return Severity.MAJOR
    is_wide = isinstance(incident.subject, Network) or 2 * cause.failures >= cause.calls
    return Severity.CRITICAL if is_wide else Severity.MAJOR
