"""The first text of an announcement about an incident, which an operator may change.

Names the institution and never an AA: the public status names none.
"""

from collections.abc import Collection, Mapping
from datetime import datetime

from msgspec import Struct

from mudra.localization.display_zone import DisplayZone
from mudra.localization.language import current, gettext
from mudra.metrics.announcements.announcement import MAX_TITLE
from mudra.metrics.incidents.incident import Incident, Symptom
from mudra.metrics.incidents.subject import fip_concerned

_SLOW = frozenset({Symptom.SLOW, Symptom.TAIL})


class Draft(Struct, frozen=True):
    """Title and text in the language in which they were written; FIPs none for the network."""

    title: str
    text: str
    fip_ids: tuple[str, ...]
    begins: datetime


def draft_of(
    incident: Incident, names: Mapping[str, str], public: Collection[str], zone: DisplayZone
) -> Draft:
    """Returns the draft in the current language, with times in this zone.

    `public` are the institutions that the status page shows.
    """
    fip_id = fip_concerned(incident.subject)
    fips = (fip_id,) if fip_id in public and fip_id is not None else ()
    where = names.get(fips[0], fips[0]) if fips else ""
    slow = bool(incident.cause.symptoms) and set(incident.cause.symptoms) <= _SLOW
    at = f"{current().long_minute(incident.began, zone.info)} {zone.abbreviation(incident.began)}"
    if slow:
        what = gettext("Since %(at)s requests take longer than usual.", at=at)
        title = gettext("requests are slow")
    else:
        what = gettext("Since %(at)s some requests fail.", at=at)
        title = gettext("some requests fail")
    next_ = gettext("We are working on it and will post an update here.")
    heading = f"{where}: {title}" if where else f"{title[:1].upper()}{title[1:]}"
    return Draft(heading[:MAX_TITLE], f"{what} {next_}", fips, incident.began)
