"""Parameters of the registry's addresses: `at`, `since`, `reason`."""

import datetime as dt
import re
from typing import Final

from mudra.http.request.body.request_body import FormRefused, parse_form
from mudra.http.request.request_context import AnyRequest
from mudra.http.response.http_refusals import InvalidField
from mudra.shared.time_text import read_time

_SINCE: Final = re.compile(r"[0-9]{1,15}", re.ASCII)


def read_query(request: AnyRequest) -> dict[str, str] | InvalidField:
    """Read the parameters as strictly as a form: none twice (0009)."""
    raw = request.scope["query_string"]
    try:
        return parse_form(raw) if raw else {}
    except FormRefused as refused:
        return InvalidField(f"query: {refused.sentence()}")


def read_since(text: str | None) -> int | InvalidField:
    """Read `since`; without one, from the beginning."""
    if text is None:
        return 0
    if not _SINCE.fullmatch(text):
        return InvalidField("since must be a whole number from 0, the upto of the last page")
    return int(text)


def read_moment(text: str | None, name: str = "at") -> dt.datetime | InvalidField | None:
    """Read an instant; None when there is none. `name` is the field that holds it."""
    if text is None:
        return None
    # A + in an address may arrive as a space.
    read = read_time(text.replace(" ", "+")) or read_time(text)
    if read is not None and read.offset is not None:
        return read.at
    return InvalidField(
        f"{name} must be an ISO 8601 date-time with its offset, 2026-01-31T09:30:00.000Z"
    )
