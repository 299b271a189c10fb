"""Events of the audit for another log system, from a position on: pure rules.

Events go in the order of the chain, once they are sealed: so none slips in behind one that was
sent, and the receiver can follow the chain by itself. Each goes at least once.
"""

import enum
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Final, Literal, Protocol
from urllib.parse import urlsplit

from msgspec import Meta, Struct

from mudra.audit.chain import SealedRow
from mudra.audit.event import Outcome
from mudra.shared.network_address import is_loopback

BATCH: Final = 200
"""Events in one message, or on one connection of syslog."""
DOUBT: Final = timedelta(minutes=1)
"""A receiver that fails may have lost what it took so long before, since not all acknowledge."""
_MAX_MARKS: Final = 100
_SYSLOG_PORT: Final = 6514
"""RFC 5425."""


class ExportKind(enum.StrEnum):
    """The protocol by which events are sent."""

    SYSLOG = "syslog+tls"
    OTLP = "otlp"
    WEBHOOK = "webhook"


class ExportDestination(Struct, frozen=True):
    """The place where events go: `url` is that of OTLP's logs or of the webhook, host and port of syslog."""

    kind: ExportKind
    host: str
    port: int = _SYSLOG_PORT
    url: str = ""

    def __str__(self) -> str:
        return f"{self.kind}://{self.host}:{self.port}" if not self.url else self.url


def destination_of(text: str) -> ExportDestination:
    """Read `syslog+tls://HOST:PORT`, `otlp+https://…` or `webhook+https://…`.

    Raises ValueError for another form, and for plain http to another machine.
    """
    scheme, separator, rest = text.partition("://")
    kind, _, transport = scheme.partition("+")
    shown = urlsplit(f"//{rest}" if kind == "syslog" else f"{transport}://{rest}")
    if not separator or not shown.hostname or shown.username or shown.query or shown.fragment:
        raise ValueError(text)
    if scheme == ExportKind.SYSLOG.value and not shown.path.strip("/"):
        return ExportDestination(ExportKind.SYSLOG, shown.hostname, shown.port or _SYSLOG_PORT)
    if transport not in {"http", "https"} or kind not in {"otlp", "webhook"}:
        raise ValueError(text)
    if transport == "http" and not is_loopback(shown.hostname):
        raise ValueError(text)
    url = shown.geturl().rstrip("/")
    if kind == "otlp":
        return ExportDestination(ExportKind.OTLP, shown.hostname, url=f"{url}/v1/logs")
    return ExportDestination(ExportKind.WEBHOOK, shown.hostname, url=url)


class ExportedEvent(Struct, frozen=True, rename="camel"):
    """An event of Mudra's audit, as it is sent to another log system."""

    version: Annotated[Literal[1], Meta(description="of this format; fields may be added to it")]
    issuer: Annotated[str, Meta(description="the service that the event is of: its base URL")]
    seq: Annotated[int, Meta(description="number of the row; an event has it for ever", ge=1)]
    number: Annotated[int, Meta(description="place in the chain, without gaps from 1", ge=1)]
    epoch: Annotated[int, Meta(description="part of the chain; a restore begins the next", ge=1)]
    hash: Annotated[
        str,
        Meta(
            description="SHA-256 of the chain up to this event; the same hash is the same event",
            pattern="^[0-9a-f]{64}$",
        ),
    ]
    at: Annotated[datetime, Meta(description="the database's time, UTC", tz=True)]
    event: Annotated[str, Meta(description="subject:object:action; names keep their meaning")]
    outcome: Annotated[Outcome, Meta(description="refused: by a rule; failed: something broke")]
    actor: Annotated[
        str, Meta(description="user:ID, entity:ID, operator:ID, system:NODE or anonymous")
    ]
    entity_id: Annotated[str, Meta(description="the member concerned; empty for none")]
    address: Annotated[str, Meta(description="IP address of the client; empty for none")]
    txn_id: Annotated[str, Meta(description="txnId of the request, also in its answer and log")]
    reason: Annotated[str, Meta(description="code of a refusal, or what a person gave as reason")]
    detail: Annotated[
        Mapping[str, str | int], Meta(description="facts of the event; never a secret")
    ]


def exported(sealed: SealedRow, issuer: str) -> ExportedEvent:
    """Return what is sent of a sealed row."""
    row, event = sealed.row, sealed.row.event
    return ExportedEvent(
        version=1,
        issuer=issuer,
        seq=row.row_id,
        number=row.number,
        epoch=row.epoch,
        hash=sealed.hash.hex(),
        at=event.at,
        event=event.event.value,
        outcome=event.outcome,
        actor=event.actor,
        entity_id=event.entity_id,
        address=event.address,
        txn_id=event.txn_id,
        reason=event.reason,
        detail=dict(event.detail),
    )


class Mark(Struct, frozen=True):
    """Up to where events had been taken at a time."""

    number: int
    at: datetime


class ExportPosition(Struct, frozen=True):
    """Up to which number events were taken; up to `safe` for longer than a receiver may lose."""

    number: int = 0
    safe: int = 0
    marks: tuple[Mark, ...] = ()

    def taken(self, number: int, now: datetime) -> "ExportPosition":
        """Return the position after the receiver has taken events up to this number."""
        marks, safe = [*self.marks, Mark(number, now)], self.safe
        while marks and marks[0].at <= now - DOUBT:
            safe = marks.pop(0).number
        if len(marks) > _MAX_MARKS:
            del marks[-2]
        return ExportPosition(number, safe, tuple(marks))

    def failed(self) -> "ExportPosition":
        """Return the position after the receiver failed: what it took lately is sent again."""
        return ExportPosition(self.safe, self.safe)


class Receiver(Protocol):
    """Takes events."""

    @property
    def acknowledges(self) -> bool:
        """Return whether what it took is stored, as far as it says."""
        ...

    async def take(self, events: Sequence[ExportedEvent]) -> str:
        """Send events; returns why they were not taken, or nothing. Some of them may have been."""
        ...
