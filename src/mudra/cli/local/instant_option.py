"""An option that is an instant."""

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
