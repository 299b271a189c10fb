"""An option that is a length of time."""

from datetime import timedelta

from mudra.cli.output.output import Exit, fail
from mudra.http.request.sandbox_requests import duration


def read_duration(option: str, text: str) -> timedelta:
    """Read an ISO 8601 duration, or end with a sentence that names the option."""
    try:
        return duration(text)
    except (AssertionError, OverflowError):
        fail(f"{option} must be a duration such as PT2H or P7D, not {text}", Exit.USAGE)
