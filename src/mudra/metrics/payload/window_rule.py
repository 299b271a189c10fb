"""The rule for the ten minutes that a payload may report (spec 2.5), for seven days after them."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from mudra.metrics.payload.catalogue import WINDOW, window_start
from mudra.shared.finding import Finding, Severity
from mudra.shared.time_text import read_time

CLOCK_TOLERANCE: Final = timedelta(seconds=60)
OLDEST: Final = timedelta(days=7)
FORM: Final = "ISO 8601 in UTC, such as 2026-01-31T10:20:00Z"


def parse_utc(text: str) -> datetime | None:
    """Returns the moment, or None where the text names none: without a zone it does not."""
    read = read_time(text)
    return None if read is None or read.offset is None else read.at


def zone_notes(texts: Mapping[str, str]) -> tuple[Finding, ...]:
    """Returns a note for each time, by its path, that is written in another zone than UTC."""
    return tuple(
        Finding(
            path, "is in another zone, and read as UTC", FORM, _utc_text(read.at), Severity.NOTE
        )
        for path, text in texts.items()
        if (read := read_time(text)) is not None and read.offset
    )


def window_findings(start_text: str | None, end_text: str | None, now: datetime) -> list[Finding]:
    """Returns the errors of a payload's two times; None is a time with an error already found."""
    found: list[Finding] = []
    start = None if start_text is None else parse_utc(start_text)
    end = None if end_text is None else parse_utc(end_text)
    if start_text is not None and start is None:
        found.append(Finding("$.fromDateTime", "is not a time in UTC", FORM))
    elif start is not None and start != window_start(start):
        found.append(
            Finding(
                "$.fromDateTime",
                "is not the start of a ten-minute window of UTC",
                "minutes 00, 10, 20, 30, 40 or 50 and no seconds",
                _utc_text(window_start(start)),
            )
        )
    if end_text is not None and end is None:
        found.append(Finding("$.toDateTime", "is not a time in UTC", FORM))
    elif start is not None and end is not None and end - start != WINDOW:
        found.append(
            Finding(
                "$.toDateTime",
                f"is {(end - start).total_seconds():g} seconds after fromDateTime",
                "600 seconds after it",
                _utc_text(start + WINDOW),
            )
        )
    if found or end is None:
        return found
    return _age_findings(end, now)


def _age_findings(end: datetime, now: datetime) -> list[Finding]:
    if end > now + CLOCK_TOLERANCE:
        return [
            Finding(
                "$.toDateTime",
                f"lies in the future: here it is {_utc_text(now)}",
                "a window that has ended; check the clock of the agent's machine",
            )
        ]
    if now - end > OLDEST:
        return [
            Finding(
                "$.toDateTime",
                f"is more than 7 days ago: here it is {_utc_text(now)}",
                "a window of the last 7 days; older ones cannot be taken any more",
            )
        ]
    return []


def _utc_text(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
