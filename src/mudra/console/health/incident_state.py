"""The state of an incident now, by its latest windows, in a sentence."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from msgspec import Struct

from mudra.localization.language import gettext, ngettext, translatable
from mudra.metrics.attribution.causes.closing import CLOSE_AFTER, SILENT_CLOSE_AFTER
from mudra.metrics.incidents.incident import (
    AaReporting,
    Decision,
    Ending,
    Incident,
    StoredIncident,
)
from mudra.metrics.payload.catalogue import WINDOW, window_start

_MINUTES: Final = int(WINDOW.total_seconds()) // 60
_ENDED: Final = {
    Ending.OPEN: (translatable("Open."), "warn"),
    Ending.RECOVERED: (translatable("Recovered."), "good"),
    Ending.NO_DATA: (translatable("No calls since: closed without evidence of recovery."), "warn"),
    Ending.CHANGED: (
        translatable("Changed for good: it goes on evenly, and is no outage."),
        "warn",
    ),
    Ending.MERGED: (translatable("Part of another incident with the same cause."), "quiet"),
    Ending.WITHDRAWN: (
        translatable("Withdrawn: late reports show that there was no incident."),
        "quiet",
    ),
}


class StateNow(Struct, frozen=True):
    """A sentence with its tone: bad, warn, good or quiet."""

    text: str
    tone: str
    is_usual: bool = False
    """Whether it is what a list of broken things says of each of them."""
    recovering: bool = False
    """Whether it is open and no bad window is among the latest that were judged."""


def closes_after(stored: StoredIncident) -> int:
    """Returns how many good windows end an incident."""
    silent = isinstance(stored.incident.subject, AaReporting)
    return SILENT_CLOSE_AFTER if silent else CLOSE_AFTER


def state_now(stored: StoredIncident, judged_until: datetime | None, now: datetime) -> StateNow:
    """Returns how an incident is doing, by the latest judged windows and by what people decided.

    A window is judged when every report that may still come is in: until then nothing is said
    of it. `judged_until` is the end of the last one; None where that is not known.
    """
    incident = stored.incident
    ended_text, ended_tone = _ENDED[incident.ending]
    if stored.decision is Decision.REOPENED:
        by_evidence = gettext("By the evidence: %(state)s", state=gettext(ended_text))
        return StateNow(gettext("Reopened by hand.") + " " + by_evidence, "warn")
    if stored.closed_by_hand and incident.ended is None:
        text = gettext("Closed by hand. It opens again if a later window is bad.")
        return StateNow(text, "quiet")
    if incident.ended is not None:
        return StateNow(gettext(ended_text), ended_tone)
    closed = window_start(now)
    until = min(closed, judged_until or closed)
    good = max(0, (until - incident.last_bad) // WINDOW - 1)
    return _recovering(stored, good) if good else _bad(incident, waits=closed > until)


def recovering_ids(
    found: Iterable[StoredIncident], judged_until: datetime | None, now: datetime
) -> frozenset[str]:
    """Returns those that are open, and not bad in the latest judged window."""
    return frozenset(
        one.incident_id for one in found if state_now(one, judged_until, now).recovering
    )


def _bad(incident: Incident, *, waits: bool) -> StateNow:
    if isinstance(incident.subject, AaReporting):
        return StateNow(gettext("Still silent."), "bad")
    if waits:
        text = gettext("Bad in the latest judged window; later ones wait for reports.")
        return StateNow(text, "bad")
    return StateNow(gettext("Bad in the latest window."), "bad", is_usual=True)


def _recovering(stored: StoredIncident, good: int) -> StateNow:
    closes = closes_after(stored) * _MINUTES
    if isinstance(stored.incident.subject, AaReporting):
        text = ngettext(
            "Recovering. No report of the last %(num)s minute is missing.",
            "Recovering. No report of the last %(num)s minutes is missing.",
            good * _MINUTES,
        )
        end = gettext("Closes after %(minutes)s minutes with all reports.", minutes=closes)
    else:
        text = ngettext(
            "Recovering. Not bad in the last %(num)s minute.",
            "Recovering. Not bad in the last %(num)s minutes.",
            good * _MINUTES,
        )
        end = gettext("Closes after %(minutes)s good minutes.", minutes=closes)
    return StateNow(f"{text} {end}", "warn", recovering=True)
