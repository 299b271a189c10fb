"""Requests about announcements on the public status, as the wire carries them."""

from datetime import datetime
from typing import Annotated, Final

from msgspec import UNSET, Meta, Struct, UnsetType, field

from mudra.http.request.fields import Flag, Instant, UuidOrNone
from mudra.metrics.announcements.announcement import (
    MAX_INSTITUTIONS,
    MAX_TEXT,
    MAX_TITLE,
    MAX_TRANSLATIONS,
    AnnouncementCommand,
    Kind,
    TranslatedText,
    Translation,
    UpdateCommand,
)

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


class TranslatedTextRequest(Struct, frozen=True):
    """A text in one more language."""

    language: _Language
    text: _Text


class UpdateRequest(Struct, frozen=True, rename="camel"):
    """An update of an announcement: plain text in English, with translations."""

    text: _Text
    translations: Annotated[
        list[TranslatedTextRequest],
        Meta(
            max_length=MAX_TRANSLATIONS,
            description=f"at most {MAX_TRANSLATIONS} translations, each of another language",
        ),
    ] = field(default_factory=list)
    ends: bool = False

    @property
    def command(self) -> UpdateCommand:
        """The command of the use case."""
        translations = tuple(TranslatedText(one.language, one.text) for one in self.translations)
        return UpdateCommand(self.text, translations, self.ends)


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
    incident_id: UuidOrNone = ""

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
            self.incident_id,
        )


def _given(at: datetime | UnsetType) -> datetime | None:
    return at if isinstance(at, datetime) else None
