"""Requests of the sandbox: its clock and its mailbox."""

import re
from datetime import timedelta
from typing import Annotated, Final

from msgspec import Meta, Struct

_PARTS: Final = re.compile(
    r"P(?:(?P<weeks>\d+)W)?(?:(?P<days>\d+)D)?"
    r"(?:T(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+)S)?)?"
)
DURATION: Final = (
    r"P(?=.)([0-9]{1,5}W|([0-9]{1,5}D)?(T(?=[0-9])([0-9]{1,7}H)?([0-9]{1,9}M)?([0-9]{1,9}S)?)?)"
)


class ClockRequest(Struct, frozen=True):
    """JSON of POST /sandbox/v1/clock."""

    advance: Annotated[
        str,
        Meta(
            pattern=rf"^{DURATION}\Z",
            description="an ISO 8601 duration of weeks, days, hours, minutes, seconds: PT6M, P7D",
            examples=["PT0S"],
        ),
    ]


class MailboxQuery(Struct, frozen=True):
    """Query of GET /sandbox/v1/mails: to whom, and how many of the latest."""

    to: Annotated[str, Meta(max_length=254, description="an email address, or empty for all")] = ""
    limit: Annotated[
        str,
        Meta(pattern=r"^([1-9][0-9]{0,2}|1000)\Z", description="a whole number from 1 to 1000"),
    ] = "50"


def duration(text: str) -> timedelta:
    """Parse an ISO 8601 duration of fixed units (weeks to seconds)."""
    found = _PARTS.fullmatch(text)
    assert found is not None, "the request's pattern admits no other form"
    return timedelta(**{unit: int(n) for unit, n in found.groupdict().items() if n is not None})
