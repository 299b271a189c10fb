"""How bad an incident is: what people choose alarms by."""

import enum

from mudra.localization.language import translatable
from mudra.metrics.incidents.incident import AaReporting, Incident, Network, Path, Symptom


class Severity(enum.StrEnum):
    """From the least to the most urgent."""

    MINOR = translatable("minor")
    """Calls are slow or refused (4xx), or an agent is silent: no call fails by it."""
    MAJOR = translatable("major")
    """Calls fail, or FI requests end without data."""
    CRITICAL = translatable("critical")
    """Half of them or more, for everyone who calls or is called."""

    def at_least(self, other: "Severity") -> bool:
        """Returns whether this is as urgent as another or more."""
        order = list(Severity)
        return order.index(self) >= order.index(other)


_HARM = frozenset({Symptom.FAILURES, Symptom.OUTCOMES, Symptom.MISSING})


def severity_of(incident: Incident) -> Severity:
    """Returns how bad an incident is, by its last bad window."""
    cause = incident.cause
    if isinstance(incident.subject, AaReporting) or _HARM.isdisjoint(cause.symptoms):
        return Severity.MINOR
    if isinstance(incident.subject, Network):
        return Severity.CRITICAL
    if isinstance(incident.subject, Path) or 2 * cause.failures < cause.calls:
        return Severity.MAJOR
    return Severity.CRITICAL
