"""Requests of the sandbox: its clock, its mailbox and its faults."""

import re
from datetime import timedelta
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct, field

from mudra.http.request.fields import EntityId
from mudra.tokens.faults.fault import FaultKind, WantedFault

_PARTS: Final = re.compile(
    r"P(?:(?P<weeks>\d+)W)?(?:(?P<days>\d+)D)?"
    r"(?:T(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+)S)?)?"
)
_DURATION: Final = (
    r"P(?=.)([0-9]{1,5}W|([0-9]{1,5}D)?(T(?=[0-9])([0-9]{1,7}H)?([0-9]{1,9}M)?([0-9]{1,9}S)?)?)"
)
Kind = Literal[
    "expired-secret",
    "grace-warning",
    "key-change",
    "key-drop",
    "too-many-requests",
    "unavailable",
    "slow",
    "clock-jump",
]
"""The kinds of `tokens/faults/fault.py`: a test compares them."""
_KINDS: Final = "one of " + ", ".join(FaultKind)


class ClockRequest(Struct, frozen=True):
    """JSON of POST /sandbox/v1/clock."""

    advance: Annotated[
        str,
        Meta(
            pattern=rf"^{_DURATION}\Z",
            description="an ISO 8601 duration of weeks, days, hours, minutes, seconds: PT6M, P7D",
            examples=["PT6M"],
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


class FaultQuery(Struct, frozen=True):
    """Query of GET /sandbox/v1/faults: one entity, or all that the caller may see."""

    entity_id: Annotated[
        str,
        Meta(pattern=r"^([A-Za-z0-9@._-]{1,64})?\Z", description="an entity ID, or empty for all"),
    ] = field(name="entityId", default="")


class FaultRequest(Struct, frozen=True):
    """JSON of POST /sandbox/v1/faults, and the form of the page."""

    entity_id: EntityId = field(name="entityId")
    kind: Annotated[Kind, Meta(description=_KINDS)]
    by: Annotated[
        str,
        Meta(
            pattern=rf"^(-?{_DURATION})?\Z",
            description="an ISO 8601 duration such as PT30S, or empty for the default of the kind;"
            " -PT10M moves a clock back",
            examples=["PT30S", "-PT10M"],
        ),
    ] = ""
    lasts: Annotated[
        str,
        Meta(
            pattern=rf"^{_DURATION}\Z",
            description="an ISO 8601 duration from PT1S to P7D",
            examples=["PT1H"],
        ),
    ] = "PT1H"

    def wanted(self) -> WantedFault:
        """Return the fault that is asked for."""
        by = duration(self.by.removeprefix("-") or "PT0S")
        seconds = int(by.total_seconds()) * (-1 if self.by.startswith("-") else 1)
        amount = seconds if self.by else None
        return WantedFault(self.entity_id, FaultKind(self.kind), duration(self.lasts), amount)


class FaultEndRequest(Struct, frozen=True):
    """JSON of POST /sandbox/v1/faults/end: one kind, or all of an entity."""

    entity_id: EntityId = field(name="entityId")
    kind: Annotated[
        Literal[
            "",
            "expired-secret",
            "grace-warning",
            "key-change",
            "key-drop",
            "too-many-requests",
            "unavailable",
            "slow",
            "clock-jump",
        ],
        Meta(description=f"{_KINDS}, or empty for all"),
    ] = ""
