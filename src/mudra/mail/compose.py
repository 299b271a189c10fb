"""Compose emails from templates, in text and HTML.

`<kind>.txt.j2` is the text, its first line the subject. The HTML part is made
of the same paragraphs by `email.html.j2`, or by `<kind>.html.j2` if it exists.
An operator's own templates with the same names take precedence.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import jinja2
from jinja2.bccache import Bucket
from jinja2.sandbox import ImmutableSandboxedEnvironment
from msgspec import Struct

from mudra.localization.display_zone import display_zone, written_in_zone, zone_of
from mudra.localization.language import current, gettext, translatable, written_in
from mudra.localization.languages import Languages
from mudra.localization.templates import add_translation
from mudra.mail.facts import FACTS, EmailFactsError, checked_facts, hidden_facts
from mudra.shared.mail.email_message import Attachment, Email
from mudra.shared.mail.mail_text import unsafe_in_mail
from mudra.shared.mail.notice import Notice, NoticeKind
from mudra.shared.time_text import INDIA

_LINE_OCTETS: Final = 75


class Date(Struct, frozen=True):
    """A moment in a calendar. The same `uid` again replaces the previous entry."""

    uid: str
    at: datetime
    title: str
    note: str
    written_at: datetime


def calendar_file(date: Date) -> str:
    """Return the file: one event without duration, with an alarm a day before."""
    lines = (
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//Mudra//EN",
        "METHOD:PUBLISH",
        "BEGIN:VEVENT",
        f"UID:{_escaped(date.uid)}",
        f"DTSTAMP:{_instant(date.written_at)}",
        f"DTSTART:{_instant(date.at)}",
        f"SUMMARY:{_escaped(date.title)}",
        f"DESCRIPTION:{_escaped(date.note)}",
        "TRANSP:TRANSPARENT",
        "BEGIN:VALARM",
        "ACTION:DISPLAY",
        f"DESCRIPTION:{_escaped(date.title)}",
        "TRIGGER:-P1D",
        "END:VALARM",
        "END:VEVENT",
        "END:VCALENDAR",
    )
    return "".join(f"{_folded(line)}\r\n" for line in lines)


def _instant(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y%m%dT%H%M%SZ}"


def _escaped(text: str) -> str:
    for char in "\\;,":
        text = text.replace(char, f"\\{char}")
    return "\\n".join(text.splitlines())


def _folded(line: str) -> str:
    """Fold to 75 octets a line, never inside a character (RFC 5545 3.1)."""
    pieces, room = [""], _LINE_OCTETS
    for char in line:
        size = len(char.encode())
        if size > room:
            pieces.append("")
            room = _LINE_OCTETS - 1
        pieces[-1] += char
        room -= size
    return "\r\n ".join(pieces)


_LAYOUT: Final = "email.html.j2"
_LAYOUT_ALIAS: Final = "letter.html.j2"
"""The previous name, which operators' own templates may still have."""
_CODE_INDENT: Final = "    "
_LINK_LABELS: Final = {
    NoticeKind.ADMIN_INVITATION: translatable("View the invitation"),
    NoticeKind.ADDRESS_CONFIRM: translatable("Confirm the new address"),
    NoticeKind.HEALTH_ALARM: translatable("Open the incident"),
    NoticeKind.HEALTH_DIGEST: translatable("Open the console"),
    NoticeKind.HEALTH_ESCALATED: translatable("Open the console"),
    NoticeKind.LEVELS_BUDGET: translatable("Open the console"),
    NoticeKind.SECRET_EXPIRY: translatable("Open the page Secret"),
    NoticeKind.SECRET_EXPIRED: translatable("Open the page Secret"),
    NoticeKind.SECRET_RESET: translatable("Open the page Secret"),
    NoticeKind.OLD_SECRET_IN_USE: translatable("Open the page Secret"),
    NoticeKind.REPORT_HELD: translatable("Open the page Health"),
    NoticeKind.SUBSCRIPTION_CONFIRM: translatable("Confirm the subscription"),
    NoticeKind.STATUS_INCIDENT: translatable("Open the status"),
    NoticeKind.STATUS_ANNOUNCEMENT: translatable("Open the status"),
    NoticeKind.SUBSCRIPTION_FAILING: translatable("Open the subscription"),
}
_LINK_LABEL: Final = translatable("Set your password")
_NO_CONTACT: Final = translatable("the operator of the network")
_HIDDEN: Final = translatable("[a link for the recipient alone]")
_SAMPLE_TIME: Final = "2026-01-31T12:00:00.000Z"


class TemplateError(Exception):
    """An operator's own template cannot be used: the text names the file and what is wrong."""


class _Compiled(jinja2.BytecodeCache):
    """Keeps compiled templates as long as the process lives: its forks compile none again."""

    def __init__(self) -> None:
        self._code: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Give the code of a template; a changed source is another checksum, and compiled again."""
        if bucket.key in self._code:
            bucket.bytecode_from_string(self._code[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep it."""
        self._code[bucket.key] = bucket.bytecode_to_string()


_COMPILED: Final = _Compiled()


class Paragraph(Struct, frozen=True):
    """One paragraph of an email's text; indented by four spaces it is a command to copy."""

    text: str
    is_code: bool


class EmailComposer:
    """Composes emails.

    `network_name` is the name of the network, `contact` an address for questions,
    such as `support@network.example`, `console` the address of the console, `zone` the name of
    the time zone in which it writes times for those who have chosen none.
    """

    def __init__(
        self,
        network_name: str,
        own_templates: Path | None = None,
        contact: str = "",
        languages: Languages | None = None,
        console: str = "",
        zone: str = INDIA,
    ) -> None:
        self._own = own_templates
        self._languages = languages or Languages()
        loaders: list[jinja2.BaseLoader] = [jinja2.PackageLoader("mudra.mail", "templates")]
        if own_templates is not None:
            loaders.insert(0, jinja2.FileSystemLoader(own_templates))
        self._templates = ImmutableSandboxedEnvironment(
            loader=jinja2.ChoiceLoader(loaders),
            bytecode_cache=_COMPILED,
            autoescape=jinja2.select_autoescape(["html.j2"]),
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        add_translation(self._templates)
        self._templates.filters |= {"when": _when, "until": _until, "regrouped": _regrouped}
        self._network, self._contact, self._console = network_name, contact, console
        self._zone = zone

    def compose(self, notice: Notice, language: str = "", zone: str = "") -> Email:
        """Compose the email of a notice; raises EmailFactsError if a fact is missing or unsafe.

        In the language of this tag and the zone of this choice (ist, utc); in those of the network
        where they are empty or unknown.
        """
        in_zone = zone_of(zone, self._zone)
        with written_in(self._languages.of(language)), written_in_zone(in_zone):
            return self._compose(notice)

    def _compose(self, notice: Notice) -> Email:
        facts = checked_facts(notice) | self._everywhere()
        template = self._templates.get_template(f"{notice.kind.value}.txt.j2")
        subject, _, body = template.render(facts).strip().partition("\n")
        hidden = hidden_facts(notice, gettext(_HIDDEN))
        shown = template.render(facts | hidden).strip().partition("\n")[2] if hidden else body
        if unsafe_in_mail(subject.strip()):
            raise EmailFactsError(f"the subject of the email {notice.kind} is not one plain line")
        html = self._templates.select_template(
            [f"{notice.kind.value}.html.j2", _LAYOUT_ALIAS, _LAYOUT]
        )
        return Email(
            to=notice.to,
            subject=subject.strip(),
            text=body.strip() + "\n",
            html=html.render(
                facts
                | {
                    "subject": subject.strip(),
                    "paragraphs": _paragraphs(body),
                    "link_label": gettext(_LINK_LABELS.get(notice.kind, _LINK_LABEL)),
                }
            ),
            attachments=_attachments(notice.kind, facts),
            unsubscribe=notice.unsubscribe.reveal() if notice.unsubscribe else "",
            shown=shown.strip() + "\n",
        )

    def check(self) -> None:
        """Compose what the operator has changed, at startup; raises TemplateError.

        With templates or catalogues of the operator that is every email, in English, the network's
        language and those that were added. Those of the package are composed by its tests.
        """
        self._check_names()
        if self._own is None and not self._languages.has_own:
            return
        for language in self._languages.to_check:
            self.check_all(language)

    def check_all(self, language: str) -> None:
        """Compose every email of a language with sample facts; raises TemplateError."""
        for kind, names in FACTS.items():
            # Times for all of them: every filter works, and no email needs more.
            sample = Notice("sample@mudra.example", kind, dict.fromkeys(names, _SAMPLE_TIME))
            try:
                self.compose(sample, language)
            except (jinja2.TemplateError, EmailFactsError, TypeError, ValueError) as error:
                raise TemplateError(
                    f"the template of the email {kind} cannot be used ({language}): {error}; "
                    f"it may use {', '.join((*names, *self._everywhere()))}"
                ) from error

    def _everywhere(self) -> dict[str, str]:
        contact = self._contact or gettext(_NO_CONTACT)
        return {"network": self._network, "contact": contact, "console": self._console}

    def _check_names(self) -> None:
        """Refuse a missing directory and unknown file names, which would never be used."""
        if self._own is None:
            return
        if not self._own.is_dir():
            raise TemplateError(f"there is no directory {self._own} with email templates")
        known = {_LAYOUT, _LAYOUT_ALIAS} | {
            f"{kind.value}.{part}.j2" for kind in NoticeKind for part in ("txt", "html")
        }
        unknown = sorted(one.name for one in self._own.glob("*.j2") if one.name not in known)
        if unknown:
            raise TemplateError(
                f"{self._own / unknown[0]} is not the name of an email template; "
                f"the names are {', '.join(sorted(known))}"
            )


def _paragraphs(body: str) -> list[Paragraph]:
    return [
        Paragraph(part.strip(), part.strip("\n").startswith(_CODE_INDENT))
        for part in body.split("\n\n")
        if part.strip()
    ]


def _when(iso: str) -> str:
    at, zone = datetime.fromisoformat(iso), display_zone()
    return f"{current().long_minute(at, zone.info)} {zone.abbreviation(at)}"


def _until(begins: str, ends: str) -> str:
    """Write a time and its end, whose day is left out where it is the same."""
    zone = display_zone()
    first, last = (datetime.fromisoformat(one).astimezone(zone.info) for one in (begins, ends))
    if first.date() != last.date():
        return gettext("%(begins)s to %(ends)s", begins=_when(begins), ends=_when(ends))
    return gettext(
        "%(begins)s to %(ends)s",
        begins=current().long_minute(first, zone.info),
        ends=f"{last:%H:%M} {zone.abbreviation(last)}",
    )


def _regrouped(number: str) -> str:
    """Write a number of the facts, such as 9,000,000, with the groups of the language."""
    digits = number.replace(",", "")
    return current().number(int(digits)) if digits.isdecimal() else number


def _attachments(kind: NoticeKind, facts: Mapping[str, str]) -> tuple[Attachment, ...]:
    if kind is not NoticeKind.SECRET_EXPIRY:
        return ()
    entity_id, expires_at = facts["entity_id"], datetime.fromisoformat(facts["expires_at"])
    command = f"mudra secret reset {entity_id} --keep-old-days 7"
    date = Date(
        # One entry for each secret, so that its five reminders do not add up to five entries.
        uid=f"secret-expiry-{entity_id}-{expires_at:%Y%m%d%H%M%S}-mudra",
        at=expires_at,
        title=gettext(
            "%(network)s: the entity secret of %(entity_id)s expires",
            network=facts["network"],
            entity_id=entity_id,
        ),
        note=gettext("Reset it before: %(command)s", command=command),
        written_at=datetime.fromisoformat(facts["written_at"]),
    )
    return (Attachment("secret-expiry.ics", "text/calendar", calendar_file(date)),)
