"""Responses about announcements on the public status."""

from datetime import datetime

from msgspec import Struct

from mudra.http.response.response_body import ResponseBody
from mudra.metrics.announcements.announcement import Announcement, TranslatedText, Translation
from mudra.shared.time_text import iso_ms


class UpdateDetails(Struct):
    """A text that was added to an announcement later."""

    at: str
    text: str
    translations: list[TranslatedText]


class AnnouncementDetails(Struct, rename="camel", kw_only=True):
    """One announcement; without `fipIds` about the whole network."""

    announcement_id: str
    kind: str
    state: str
    """scheduled, current or over."""
    title: str
    text: str
    translations: list[Translation]
    fip_ids: list[str]
    publish_at: str
    begins: str | None
    ends: str | None
    made_by: str
    made_at: str
    changed_at: str | None
    ended_at: str | None
    """When it was ended early; else null."""
    incident_id: str
    """The incident that it is about; empty for none."""
    updates: list[UpdateDetails]
    """What was added since, the oldest first."""


class AnnouncementsResponse(ResponseBody, kw_only=True):
    """Announcements, the last published first."""

    announcements: list[AnnouncementDetails]


class AnnouncementResponse(ResponseBody, kw_only=True):
    """One announcement as it is now."""

    announcement: AnnouncementDetails


def announcement_details(one: Announcement, now: datetime) -> AnnouncementDetails:
    """Return an announcement as the wire has it."""
    return AnnouncementDetails(
        announcement_id=one.announcement_id,
        kind=one.kind.value,
        state=one.state(now).value,
        title=one.title,
        text=one.text,
        translations=list(one.translations),
        fip_ids=list(one.fip_ids),
        publish_at=iso_ms(one.publish_at),
        begins=_written(one.begins),
        ends=_written(one.ends),
        made_by=one.made_by,
        made_at=iso_ms(one.made_at),
        changed_at=_written(one.changed_at),
        ended_at=_written(one.ended_at),
        incident_id=one.incident_id,
        updates=[
            UpdateDetails(iso_ms(each.at), each.text, list(each.translations))
            for each in one.updates
        ],
    )


def _written(at: datetime | None) -> str | None:
    return None if at is None else iso_ms(at)
