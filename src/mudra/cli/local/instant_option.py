"""An option that is an instant."""

from datetime import datetime

from mudra.cli.output.output import Exit, fail


def read_instant(option: str, text: str) -> datetime:
    """Read an ISO 8601 instant with its offset, or end with a sentence that names the option."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        fail(
            f"{option} must be a time with its offset, 2026-03-01T00:00:00Z, not {text}", Exit.USAGE
        )
    return moment
