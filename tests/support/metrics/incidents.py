"""Incidents for tests that are not about their detection."""

from datetime import datetime, timedelta

import msgspec

from mudra.metrics.incidents.incident import (
    Cause,
    Ending,
    FipApi,
    Incident,
    Subject,
    Symptom,
    TimelineChange,
    TimelineEntry,
)

WINDOW = timedelta(minutes=10)


def an_incident(
    subject: Subject,
    began: datetime,
    ended: datetime | None = None,
    *,
    eligible: int = 200,
    succeeded: int | None = None,
    symptoms: tuple[Symptom, ...] = (Symptom.FAILURES,),
    affected_aas: tuple[str, ...] = (),
    affected_fips: tuple[str, ...] = (),
    ambiguous_with: tuple[Subject, ...] = (),
    bad_windows: int = 2,
) -> Incident:
    """An incident of two bad windows, detected at the end of the second; half of its calls failed."""
    good = eligible // 2 if succeeded is None else succeeded
    return Incident(
        subject,
        began,
        began + 2 * WINDOW,
        began + WINDOW,
        ended,
        Ending.RECOVERED if ended else Ending.OPEN,
        bad_windows,
        good,
        eligible,
        Cause(
            symptoms,
            eligible // 2,
            (eligible - good) // 2,
            1.0,
            50.0,
            ambiguous_with,
            affected_aas,
            affected_fips,
        ),
        (TimelineEntry(began + WINDOW, TimelineChange.OPENED, subject, symptoms),),
    )


def stored_row(incident_id: str, kind: str, entity_id: str, began: datetime) -> dict[str, object]:
    """Make an incident of two hours as it is stored."""
    found = an_incident(FipApi(entity_id, "cns"), began)
    return {
        "incident_id": incident_id,
        "kind": kind,
        "entity_id": entity_id,
        "type": "cns" if kind == "fip-api" else "",
        "began": began,
        "last_bad": began + timedelta(minutes=90),
        "ended": began + timedelta(hours=2),
        "ending": "recovered",
        "bad_windows": 10,
        "succeeded": 10,
        "eligible": 1000,
        "peer_id": "",
        "refused": False,
        "detected": began + timedelta(minutes=20),
        "cause": msgspec.to_builtins(found.cause),
        "timeline": msgspec.to_builtins(found.timeline),
        "recipients": [],
        "changed_at": began,
    }
