"""Announcements on the public status, by operators with the scope health."""

from datetime import datetime
from typing import Annotated, Final
from uuid import UUID

from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath
from msgspec import UNSET, Meta, Struct, UnsetType, field

from mudra.http.auth.gates import OperatorCall, operator
from mudra.http.request.body.request_body import TEXT_LIMITS
from mudra.http.request.fields import Flag, Instant, NoParameters
from mudra.http.response.response_body import ResponseBody
from mudra.http.route import get, post
from mudra.identity.accounts.people_store import People
from mudra.identity.operators.operator import Scope
from mudra.metrics.announcements.announcement import (
    MAX_INSTITUTIONS,
    MAX_TEXT,
    MAX_TITLE,
    MAX_TRANSLATIONS,
    Announcement,
    AnnouncementCommand,
    Kind,
    Translation,
)
from mudra.metrics.announcements.announcement_service import AnnouncementService
from mudra.shared.refusal import Refusal
from mudra.shared.time_text import iso_ms


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
    )


def _written(at: datetime | None) -> str | None:
    return None if at is None else iso_ms(at)


_PLAIN: Final[dict[str, object]] = {"format": "plain-line"}
_Title = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=MAX_TITLE,
        description=f"plain text of 1 to {MAX_TITLE} characters",
        examples=["Maintenance on Sunday"],
        extra_json_schema=_PLAIN,
    ),
]
_Text = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=MAX_TEXT,
        description=f"one paragraph of plain text, 1 to {MAX_TEXT} characters",
        examples=["New consents cannot be given from 02:00 to 04:00 IST."],
        extra_json_schema=_PLAIN,
    ),
]
_Language = Annotated[
    str,
    Meta(
        pattern=r"^[a-z]{2,3}(-[A-Za-z]{2,4}){0,2}\Z",
        description="the tag of a language, such as hi",
        examples=["hi"],
    ),
]
_Fip = Annotated[
    str,
    Meta(pattern=r"^[A-Za-z0-9@._-]{1,64}\Z", description="the ID of a FIP"),
]


class AnnouncementsParameters(Struct, frozen=True):
    """Current and scheduled announcements; with `past` also those over within 90 days."""

    past: Flag = "false"


class TranslationRequest(Struct, frozen=True):
    """Title and text in one more language."""

    language: _Language
    title: _Title
    text: _Text


class AnnouncementRequest(Struct, frozen=True, rename="camel"):
    """An announcement: plain text in English, with translations, about all or some institutions.

    Published at `publishAt`, else now. From `ends` on it is in the history.
    """

    title: _Title
    text: _Text
    kind: Annotated[Kind, Meta(description=f"one of {', '.join(Kind)}")] = Kind.INFORMATION
    translations: Annotated[
        list[TranslationRequest],
        Meta(
            max_length=MAX_TRANSLATIONS,
            description=f"at most {MAX_TRANSLATIONS} translations, each of another language",
        ),
    ] = field(default_factory=list)
    fip_ids: Annotated[
        list[_Fip],
        Meta(
            max_length=MAX_INSTITUTIONS,
            description=f"at most {MAX_INSTITUTIONS} IDs of FIPs; none for the whole network",
        ),
    ] = field(default_factory=list)
    publish_at: Instant | UnsetType = UNSET
    begins: Instant | UnsetType = UNSET
    ends: Instant | UnsetType = UNSET

    @property
    def command(self) -> AnnouncementCommand:
        """The command of the use case."""
        return AnnouncementCommand(
            self.kind,
            self.title,
            self.text,
            tuple(Translation(one.language, one.title, one.text) for one in self.translations),
            tuple(self.fip_ids),
            _given(self.publish_at),
            _given(self.begins),
            _given(self.ends),
        )


def _given(at: datetime | UnsetType) -> datetime | None:
    return at if isinstance(at, datetime) else None


@get("/operator/v1/announcements", "List announcements", gate=operator(Scope.HEALTH))
async def announcements(call: OperatorCall[AnnouncementsParameters]) -> AnnouncementsResponse:
    """List what the public status shows or will show, the last published first."""
    now = await People(call.tx).now()
    found = await call.tx.service(AnnouncementService).list(now, past=call.body.past == "true")
    return AnnouncementsResponse(announcements=[announcement_details(one, now) for one in found])


@post(
    "/operator/v1/announcements",
    "Publish an announcement",
    conflict=True,
    gate=operator(Scope.HEALTH),
    limits=TEXT_LIMITS,
)
async def publish(call: OperatorCall[AnnouncementRequest]) -> AnnouncementResponse | Refusal:
    """Show a text on the public status, now or later, and send it to subscribers once."""
    now = await People(call.tx).now()
    outcome = await call.tx.service(AnnouncementService).publish(
        call.body.command, call.caller, now
    )
    return _response(outcome, now)


@post(
    "/operator/v1/announcements/{announcement_id:uuid}",
    "Change an announcement",
    gate=operator(Scope.HEALTH),
    limits=TEXT_LIMITS,
)
async def change(
    call: OperatorCall[AnnouncementRequest], announcement_id: FromPath[UUID]
) -> AnnouncementResponse | Refusal:
    """Replace one that is not over, wholly; it is not sent again. `publishAt` stays if left out."""
    now, which = await People(call.tx).now(), str(announcement_id)
    outcome = await call.tx.service(AnnouncementService).change(
        which, call.body.command, call.caller, now
    )
    return _response(outcome, now)


@post(
    "/operator/v1/announcements/{announcement_id:uuid}/end",
    "End an announcement",
    gate=operator(Scope.HEALTH),
)
async def end(
    call: OperatorCall[NoParameters], announcement_id: FromPath[UUID]
) -> AnnouncementResponse | Refusal:
    """Move one to the history now; one that is scheduled is never published."""
    now = await People(call.tx).now()
    return _response(
        await call.tx.service(AnnouncementService).end(str(announcement_id), call.caller, now), now
    )


def _response(outcome: Announcement | Refusal, now: datetime) -> AnnouncementResponse | Refusal:
    if isinstance(outcome, Refusal):
        return outcome
    return AnnouncementResponse(announcement=announcement_details(outcome, now))


operator_handlers: Final[list[HTTPRouteHandler]] = [announcements, publish, change, end]
