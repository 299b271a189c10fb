"""The announcements of operators, as the pages of the public status show them."""

from collections.abc import Collection
from datetime import datetime
from typing import Final

from mudra.localization.language import translatable
from mudra.metrics.announcements.announcement import Kind
from mudra.metrics.public_status.status_history import PublicAnnouncement, StatusSnapshot

KINDS: Final = {
    Kind.INFORMATION: (translatable("Information"), "quiet"),
    Kind.INCIDENT: (translatable("Incident"), "bad"),
    Kind.MAINTENANCE: (translatable("Maintenance"), "warn"),
}
_MAX_PAST: Final = 5
"""Of the history on a page; the open data has all of 90 days."""


def announced(
    snapshot: StatusSnapshot,
    now: datetime,
    fip_id: str = "",
    here: Collection[str] | None = None,
    *,
    of_all: bool = True,
) -> dict[str, object]:
    """Returns what a page shows: of the network, or what concerns one institution.

    With `here`, the institutions on the page, what names only others is left out; not `of_all`
    leaves out what concerns the whole network.
    """
    found = [
        one
        for one in snapshot.announcements
        if one.concerns(fip_id)
        and (here is None or not one.fip_ids or not set(here).isdisjoint(one.fip_ids))
        and (of_all or bool(one.fip_ids))
    ]
    over = [one for one in found if one.is_over(now)]
    past = sorted(over, key=_over, reverse=True)[:_MAX_PAST]
    return {
        "announcements": [one for one in found if not one.is_over(now)],
        "past_announcements": past,
        "kinds": KINDS,
    }


def _over(one: PublicAnnouncement) -> datetime:
    return one.over or one.published
