"""The changes of public incidents of which subscribers get emails. Pure."""

import enum
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime

from msgspec import Struct

from mudra.metrics.incidents.incident import Ending, Incident, StoredIncident
from mudra.metrics.incidents.subject import fip_of, name_of
from mudra.metrics.public_status.status_history import is_public


class NewsState(enum.StrEnum):
    """The announced state of an incident."""

    OPEN = "open"
    OVER = "over"


class News(Struct, frozen=True):
    """One announcement; `codes` are the APIs of spec 2.5 with commas, empty for all of them."""

    incident_id: str
    fip_id: str
    codes: str
    state: NewsState
    began: datetime
    ended: datetime | None
    at: datetime
    after: str = ""
    """The last subscription that was written to; empty before the first."""


def news_of(
    incidents: Iterable[StoredIncident],
    announced: Mapping[str, NewsState],
    public: Collection[str],
    now: datetime,
) -> list[News]:
    """Return what is to be announced now: public incidents that opened, ended or opened again.

    One that is over before it was announced is none. `public` are the institutions that the
    status page shows.
    """
    found = []
    for stored in incidents:
        incident = stored.incident
        fip_id = fip_of(incident.subject)
        if fip_id is None or fip_id not in public:
            continue
        is_open = incident.ended is None and is_public(incident)
        state, before = (
            NewsState.OPEN if is_open else NewsState.OVER,
            announced.get(stored.incident_id),
        )
        if state is before or (before is None and not is_open):
            continue
        found.append(
            News(
                stored.incident_id, fip_id, name_of(incident.subject).type, state,
                incident.began, incident.ended, now,
            )
        )  # fmt: skip
    return found


def ending_of(news: News, incident: Incident) -> Ending:
    """Returns how an incident ended for the public: one that it sees no more has recovered."""
    if news.state is NewsState.OPEN:
        return Ending.OPEN
    return Ending.RECOVERED if incident.ending is Ending.OPEN else incident.ending
