"""Announcements about an incident, as its page shows them."""

from collections.abc import Mapping

from mudra.console.framework.page_context import PageContext
from mudra.console.pages.operator.health.announcements import more_languages
from mudra.localization.display_zone import DisplayZone, zone_of
from mudra.localization.language import ENGLISH, written_in
from mudra.metrics.announcements.announcement import MAX_TEXT, MAX_TITLE, State
from mudra.metrics.announcements.announcement_service import AnnouncementService
from mudra.metrics.announcements.incident_draft import draft_of
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.incidents.incident import StoredIncident


async def public_facts(page_context: PageContext, stored: StoredIncident) -> Mapping[str, object]:
    """Returns its announcements, and the first text of one where none is shown."""
    tx, now = page_context.tx, page_context.now
    found = await tx.service(AnnouncementService).about(stored.incident_id, now)
    facts: dict[str, object] = {
        "announcements": found,
        "announced": next((one for one in found if one.state(now) is not State.OVER), None),
        "more_languages": more_languages(page_context),
        "max_title": MAX_TITLE,
        "max_text": MAX_TEXT,
        "draft": {},
    }
    if facts["announced"] is None and stored.is_open:
        facts["draft"] = await _draft(page_context, stored)
    return facts


async def _draft(page_context: PageContext, stored: StoredIncident) -> Mapping[str, str]:
    """Returns the fields of the form, in each language of the network."""
    health, languages = page_context.tx.service(HealthService), page_context.dependencies.languages
    names, public = await health.names(), await health.onboarded_fips()
    fields: dict[str, str] = {}
    for tag in ("", *(one.tag for one in more_languages(page_context))):
        with written_in(languages.of(tag) if tag else ENGLISH):
            draft = draft_of(stored.incident, names, public, network_zone(page_context))
        end = f"_{tag}" if tag else ""
        fields |= {f"title{end}": draft.title, f"text{end}": draft.text}
    return fields


def network_zone(page_context: PageContext) -> DisplayZone:
    """Returns the zone of times in a text for the public."""
    return zone_of("", page_context.dependencies.settings.time_zone)
