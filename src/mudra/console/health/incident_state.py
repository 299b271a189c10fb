"""How an incident is doing now, by its latest windows, in a sentence."""

from datetime import datetime
from typing import Final

from msgspec import Struct

from mudra.metrics.incidents.incident import AaReporting, Decision, Ending, StoredIncident
from mudra.metrics.payload.catalogue import WINDOW, window_start

CLOSES_AFTER: Final = 3
"""Good windows that end an incident of calls (metrics/attribution/causes/active.py)."""
SILENT_CLOSES_AFTER: Final = 2
_ENDED: Final = {
    Ending.OPEN: ("Open", "warn"),
    Ending.RECOVERED: ("Recovered.", "good"),
    Ending.NO_DATA: ("No calls since: closed without evidence of recovery.", "warn"),
    Ending.MERGED: ("Part of another incident with the same cause.", "quiet"),
    Ending.WITHDRAWN: ("Withdrawn: late reports show that there was no incident.", "quiet"),
}
_BY_EVIDENCE: Final = {
    Ending.OPEN: "open",
    Ending.RECOVERED: "recovered",
    Ending.NO_DATA: "without data since",
    Ending.MERGED: "part of another incident",
    Ending.WITHDRAWN: "withdrawn",
}


class StateNow(Struct, frozen=True):
    """A sentence with its tone: bad, warn, good or quiet."""

    text: str
    tone: str


def closes_after(stored: StoredIncident) -> int:
    """Returns how many good windows end an incident."""
    silent = isinstance(stored.incident.subject, AaReporting)
    return SILENT_CLOSES_AFTER if silent else CLOSES_AFTER


def state_now(stored: StoredIncident, judged_until: datetime | None, now: datetime) -> StateNow:
    """Returns how an incident is doing, by the latest judged windows and by what people decided.

    A window is judged when every report that may still come is in: until then nothing is said
    of it. `judged_until` is the end of the last one; None where that is not known.
    """
    incident = stored.incident
    if stored.decision is Decision.REOPENED:
        found = _BY_EVIDENCE[incident.ending]
        return StateNow(f"Reopened by hand; by the evidence it is {found}.", "warn")
    if stored.closed_by_hand and incident.ended is None:
        return StateNow("Closed by hand. It opens again if a later window is bad.", "quiet")
    if incident.ended is not None:
        return StateNow(*_ENDED[incident.ending])
    silent = isinstance(incident.subject, AaReporting)
    closed = window_start(now)
    until = min(closed, judged_until or closed)
    if incident.last_bad >= until - 2 * WINDOW:
        if silent:
            return StateNow("Still silent.", "bad")
        if closed - until > WINDOW:
            return StateNow("Bad in the latest judged windows; later ones wait for reports.", "bad")
        return StateNow("Still bad in the latest windows.", "bad")
    good_for = (until - incident.last_bad) // WINDOW - 1
    after = closes_after(stored)
    what = "reported windows" if silent else "good windows"
    return StateNow(
        f"No bad window reported for {good_for * 10} min;"
        f" closes after {after} {what} ({after * 10} min).",
        "warn",
    )
