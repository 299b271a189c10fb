"""An announcement on the public status: its text, its times, and what is allowed. Pure.

Its text is plain: one paragraph, shown as it was typed, without markup or links.
"""

import enum
import re
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from difflib import get_close_matches
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from mudra.shared.mail.mail_text import unsafe_in_mail
from mudra.shared.refusal import PlainRefusal, Refusal, RefusalKind, ValueRefused
from mudra.shared.time_text import USUAL, is_usual

MAX_TITLE: Final = 120
MAX_TEXT: Final = 600
MAX_INSTITUTIONS: Final = 20
MAX_TRANSLATIONS: Final = 10
MAX_UPDATES: Final = 20
"""Updates of one announcement: each is sent to all subscribers whom it concerns."""
MAX_UNENDED: Final = 20
"""Announcements that are shown or scheduled at once."""
MAX_A_DAY: Final = 20
"""New ones in 24 hours: each is sent to all subscribers whom it concerns."""
COUNTED: Final = timedelta(hours=24)
MAX_LEAD_TIME: Final = timedelta(days=366)
RETENTION: Final = timedelta(days=90)
"""How long one can be looked up after its end; the audit log keeps it longer."""
_LANGUAGE: Final = re.compile(r"[a-z]{2,3}(?:-[A-Za-z]{2,4}){0,2}")


class Kind(enum.StrEnum):
    """The matter that is announced."""

    INFORMATION = "information"
    INCIDENT = "incident"
    MAINTENANCE = "maintenance"


class State(enum.StrEnum):
    """The place where it is shown."""

    SCHEDULED = "scheduled"
    """Nowhere yet: it is published later."""
    CURRENT = "current"
    """On top of the pages that it concerns."""
    OVER = "over"
    """In the history."""


class Translation(Struct, frozen=True):
    """Title and text in one more language, by its tag, such as `hi`."""

    language: str
    title: str
    text: str


class TranslatedText(Struct, frozen=True):
    """A text in one more language, by its tag."""

    language: str
    text: str


class Update(Struct, frozen=True):
    """A text that was added to an announcement later, in English."""

    at: datetime
    text: str
    translations: tuple[TranslatedText, ...] = ()

    def in_language(self, tag: str) -> TranslatedText:
        """Return the text in a language, else as it was written first, in English."""
        found = (one for one in self.translations if one.language == tag)
        return next(found, TranslatedText("en", self.text))


class UpdateCommand(Struct, frozen=True):
    """A text that an operator adds to an announcement; with `ends` it is the last one."""

    text: str
    translations: tuple[TranslatedText, ...] = ()
    ends: bool = False


class AnnouncementCommand(Struct, frozen=True):
    """The text of an operator. Without `publish_at` it is published immediately.

    Without institutions it concerns the whole network. `begins` and `ends` are of what is
    announced; from `ends` on it is in the history.
    """

    kind: Kind
    title: str
    text: str
    translations: tuple[Translation, ...] = ()
    fip_ids: tuple[str, ...] = ()
    publish_at: datetime | None = None
    begins: datetime | None = None
    ends: datetime | None = None
    incident_id: str = ""
    """The incident that it is about; empty for none. A change leaves it as it is."""


class Announcement(Struct, frozen=True):
    """One announcement; `ended_at` is set where it was ended early."""

    announcement_id: str
    kind: Kind
    title: str
    text: str
    translations: tuple[Translation, ...]
    fip_ids: tuple[str, ...]
    publish_at: datetime
    begins: datetime | None
    ends: datetime | None
    made_by: str
    made_at: datetime
    changed_at: datetime | None = None
    ended_at: datetime | None = None
    incident_id: str = ""
    updates: tuple[Update, ...] = ()
    """The oldest first."""

    def in_language(self, tag: str) -> Translation:
        """Return title and text in a language, else as they were written first, in English."""
        return in_language(self.title, self.text, self.translations, tag)

    @property
    def over_at(self) -> datetime | None:
        """Return when it moves to the history; none while that is open."""
        return min((one for one in (self.ends, self.ended_at) if one is not None), default=None)

    @property
    def said_at(self) -> datetime:
        """Return when it said something to its subscribers last."""
        return self.updates[-1].at if self.updates else self.publish_at

    def is_to_send(self, now: datetime) -> bool:
        """Return whether subscribers are written to: it is shown, or its last update ended it."""
        by_update = bool(self.updates) and self.ended_at == self.updates[-1].at
        return by_update or self.state(now) is State.CURRENT

    @property
    def was_withdrawn(self) -> bool:
        """Return whether it was ended before anyone saw it."""
        return self.ended_at is not None and self.ended_at <= self.publish_at

    def state(self, now: datetime) -> State:
        """Return where it is shown now."""
        if self.over_at is not None and self.over_at <= now:
            return State.OVER
        return State.CURRENT if self.publish_at <= now else State.SCHEDULED


def in_language(
    title: str, text: str, translations: Iterable[Translation], tag: str
) -> Translation:
    """Return the translation of a language, else what it is translated from, as English."""
    found = (one for one in translations if one.language == tag)
    return next(found, Translation("en", title, text))


class NoSuchAnnouncement(Refusal, frozen=True):
    """No current or scheduled announcement has this ID."""

    kind = RefusalKind.NOT_FOUND
    sentence = "no current or scheduled announcement of this ID"


TOO_MANY_ANNOUNCEMENTS: Final = PlainRefusal(
    RefusalKind.CONFLICT,
    f"{MAX_UNENDED} announcements are shown or scheduled, or {MAX_A_DAY} were made in "
    "24 hours: end one, or wait",
)


NOT_PUBLISHED: Final = PlainRefusal(
    RefusalKind.CONFLICT, "the announcement is not published yet: change it instead"
)


ANNOUNCED_BEFORE: Final = PlainRefusal(
    RefusalKind.CONFLICT, "the incident is announced already: add an update to its announcement"
)


def new_announcement(
    command: AnnouncementCommand,
    announcement_id: str,
    made_by: str,
    now: datetime,
    public: Collection[str],
) -> Announcement | ValueRefused:
    """Return the announcement; one to be published in the past is published now.

    `public` are the institutions that the status page shows.
    """
    made = Announcement(
        announcement_id,
        command.kind,
        _plain(command.title),
        _plain(command.text),
        _translations(command),
        tuple(dict.fromkeys(command.fip_ids)),
        max(command.publish_at or now, now),
        command.begins,
        command.ends,
        made_by,
        now,
        incident_id=command.incident_id,
    )
    return _refusal(made, now, public) or made


def updated_announcement(
    before: Announcement, command: UpdateCommand, now: datetime
) -> Announcement | ValueRefused | PlainRefusal:
    """Return it with an update; one that ends it moves it to the history."""
    if before.state(now) is State.SCHEDULED:
        return NOT_PUBLISHED
    if len(before.updates) >= MAX_UPDATES:
        return ValueRefused("text", f"is one too many: an announcement has at most {MAX_UPDATES}")
    update = Update(
        now,
        _plain(command.text),
        tuple(
            TranslatedText(one.language, text)
            for one in command.translations
            if (text := _plain(one.text))
        ),
    )
    refused = _refused_text(update)
    if refused is not None:
        return refused
    ended_at = now if command.ends else before.ended_at
    return replace(before, updates=(*before.updates, update), ended_at=ended_at)


def changed_announcement(
    before: Announcement, command: AnnouncementCommand, now: datetime, public: Collection[str]
) -> Announcement | ValueRefused:
    """Return it with what the command says; what was published stays so since then."""
    planned = max(command.publish_at or before.publish_at, now)
    after = replace(
        before,
        kind=command.kind,
        title=_plain(command.title),
        text=_plain(command.text),
        translations=_translations(command),
        fip_ids=tuple(dict.fromkeys(command.fip_ids)),
        publish_at=planned if before.state(now) is State.SCHEDULED else before.publish_at,
        begins=command.begins,
        ends=command.ends,
        changed_at=now,
    )
    # An institution that has left since may stay named.
    return _refusal(after, now, {*public, *before.fip_ids}) or after


def _plain(text: str) -> str:
    """Returns a text as one paragraph: line breaks that were typed are spaces."""
    return " ".join(text.split())


def _translations(command: AnnouncementCommand) -> tuple[Translation, ...]:
    """Returns those with a text: the fields of a language may be left empty."""
    plain = [
        Translation(one.language, _plain(one.title), _plain(one.text))
        for one in command.translations
    ]
    return tuple(one for one in plain if one.title or one.text)


def _refusal(one: Announcement, now: datetime, public: Collection[str]) -> ValueRefused | None:
    return _refused_text(one) or _refused_place(one, public) or _refused_time(one, now)


def _refused_text(one: Announcement | Update) -> ValueRefused | None:
    """Refuses titles, which an announcement alone has, texts and translations."""
    if isinstance(one, Announcement) and not _is_text(one.title, MAX_TITLE):
        return ValueRefused("title", _allowed(MAX_TITLE))
    if not _is_text(one.text, MAX_TEXT):
        return ValueRefused("text", _allowed(MAX_TEXT))
    tags = [each.language for each in one.translations]
    if len(tags) > MAX_TRANSLATIONS or len(set(tags)) < len(tags):
        problem = f"must be at most {MAX_TRANSLATIONS}, each of another language"
        return ValueRefused("translations", problem)
    for each in one.translations:
        if not _LANGUAGE.fullmatch(each.language):
            return ValueRefused("translations", "must have a language such as hi or ta")
        where = f"translations ({each.language}):"
        if isinstance(each, Translation) and not _is_text(each.title, MAX_TITLE):
            return ValueRefused(f"{where} title", _allowed(MAX_TITLE))
        if not _is_text(each.text, MAX_TEXT):
            return ValueRefused(f"{where} text", _allowed(MAX_TEXT))
    return None


def _refused_place(one: Announcement, public: Collection[str]) -> ValueRefused | None:
    if len(one.fip_ids) > MAX_INSTITUTIONS:
        problem = f"must be at most {MAX_INSTITUTIONS}; leave it empty for the whole network"
        return ValueRefused("fipIds", problem)
    unknown = next((fip_id for fip_id in one.fip_ids if fip_id not in public), None)
    if unknown is not None:
        near = get_close_matches(unknown, public, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        problem = f'must be IDs of FIPs on the public status: "{unknown[:64]}" is no FIP{hint}'
        return ValueRefused("fipIds", problem)
    return None


def _refused_time(one: Announcement, now: datetime) -> ValueRefused | None:
    if one.publish_at - now > MAX_LEAD_TIME:
        days = MAX_LEAD_TIME.days
        return ValueRefused("publishAt", f"must be at most {days} days from now")
    for name, at in (("begins", one.begins), ("ends", one.ends)):
        if at is not None and not is_usual(at):
            return ValueRefused(name, USUAL)
    if one.ends is not None and one.ends <= max(one.publish_at, now):
        return ValueRefused("ends", "must be later than now and than its publication")
    if one.ends is not None and one.begins is not None and one.ends <= one.begins:
        return ValueRefused("ends", "must be later than begins")
    return None


def _is_text(text: str, longest: int) -> bool:
    return 0 < len(text) <= longest and not unsafe_in_mail(text)


def _allowed(longest: int) -> str:
    return f"must be 1 to {longest} characters of plain text, without control characters or =?"
