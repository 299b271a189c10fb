"""Requests and responses of /sandbox/v1/faults."""

from collections.abc import Sequence
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct, field

from mudra.demo.faults.fault import DESCRIPTIONS, Fault, FaultKind, WantedFault
from mudra.http.request.fields import EntityId
from mudra.http.request.sandbox_requests import DURATION, duration
from mudra.http.response.response_body import DateTime, ResponseBody
from mudra.shared.time_text import iso_ms

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
"""The kinds of `fault.py`: a test compares them."""
_KINDS: Final = "one of " + ", ".join(FaultKind)


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
            pattern=rf"^(-?{DURATION})?\Z",
            description="an ISO 8601 duration such as PT30S, or empty for the default of the kind;"
            " -PT10M moves a clock back",
            examples=["PT30S", "-PT10M"],
        ),
    ] = ""
    lasts: Annotated[
        str,
        Meta(
            pattern=rf"^{DURATION}\Z",
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
    kind: Annotated[Literal["", Kind], Meta(description=f"{_KINDS}, or empty for all")] = ""


class SandboxFault(Struct, kw_only=True, rename="camel"):
    """One fault in force; `seconds` is the amount of its kind, 0 where it has none."""

    entity_id: str
    kind: Kind
    effect: str
    seconds: int
    starts_at: DateTime
    ends_at: DateTime
    by_operator: bool
    kid: str


class FaultsResponse(ResponseBody, kw_only=True):
    """Faults of the sandbox."""

    faults: list[SandboxFault]


def faults_response(faults: Sequence[Fault]) -> FaultsResponse:
    """Return faults as programs read them."""
    return FaultsResponse(
        faults=[
            SandboxFault(
                entity_id=one.entity_id,
                kind=one.kind.value,
                effect=DESCRIPTIONS[one.kind],
                seconds=one.seconds,
                starts_at=iso_ms(one.starts_at),
                ends_at=iso_ms(one.ends_at),
                by_operator=one.by_operator,
                kid=one.kid,
            )
            for one in faults
        ]
    )
