"""A date as a calendar file (RFC 5545)."""

from datetime import UTC, datetime
from typing import Final

from msgspec import Struct

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
