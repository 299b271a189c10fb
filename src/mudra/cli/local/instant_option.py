"""Options that are an instant or a day, read by the one reader of times."""

from datetime import datetime

from mudra.cli.output.output import Exit, fail
from mudra.shared.time_text import read_time


def read_instant(option: str, text: str) -> datetime:
    """Read an ISO 8601 instant with its offset, or end with a sentence that names the option."""
    read = read_time(text)
    if read is None or read.offset is None:
        fail(
            f"{option} must be a time with its offset, 2026-03-01T00:00:00Z, not {text}", Exit.USAGE
        )
    return read.at


def read_day(option: str, text: str) -> datetime:
    """Read a day, and return its beginning in UTC; or end with a sentence."""
    read = read_time(f"{text}T00:00")
    if read is None:
        fail(f"{option} must be a day, 2026-03-01, not {text}", Exit.USAGE)
    return read.at


def read_day_or_instant(option: str, text: str) -> datetime:
    """Read a day or a time, of UTC where it names no offset; or end with a sentence."""
    read = read_time(f"{text}T00:00") or read_time(text)
    if read is None:
        fail(
            f"{option} must be a day or a time, 2026-03-01 or 2026-03-01T00:00:00Z, not {text}",
            Exit.USAGE,
        )
    return read.at
