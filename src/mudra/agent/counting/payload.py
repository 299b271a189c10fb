"""Makes the two payloads of spec 2.5 and 2.6 from a closed window."""

import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from msgspec import UNSET

from mudra.agent.counting.tally import Tally
from mudra.agent.counting.window import WINDOW, BlockKey, WindowTally
from mudra.metrics.payload.catalogue import WINDOW_SECONDS, RequestType, Tag
from mudra.metrics.payload.report import (
    NotificationBlock,
    NotificationFip,
    NotificationMetrics,
    Report,
    RequestBlock,
    RequestFip,
    RequestMetrics,
    encode_report,
)

JSON_VERSION: Final = "1.0.0"
_TRANSACTIONS: Final = uuid.UUID("c9a0b6f4-6d4a-5c53-9f0e-2f1f6d0f5a10")
_FETCH: Final = RequestType.FI_FETCH.value


@dataclass(frozen=True, slots=True)
class Reporter:
    """The entity that reports, and its agent."""

    aa_id: str
    agent_version: str


@dataclass(frozen=True, slots=True)
class Payload:
    """One payload, ready to be stored."""

    window: int
    tag: Tag
    txn_id: str
    body: bytes
    revision: int = 0
    """How many payloads of this window and tag it replaces."""


def payloads(
    start: int, window: WindowTally, by: Reporter, *, without: Collection[Tag] = ()
) -> list[Payload]:
    """Return both payloads of this window, also when one or both have no calls.

    FIPs and types without traffic are left out, never zeros. A
    payload without FIPs says that the AA was idle; without it the operator would
    have to take the window for a gap. That is right for the tags of `without`, the
    calls of which are not known, and for a tag of which a later revision changes nothing.
    """
    revision = window.revision
    untouched = [tag for tag in Tag if (tag is Tag.NOTIFICATIONS) not in window.touched]
    requests = tuple(
        RequestFip(fip, tuple(_request(code, tally) for code, tally in blocks))
        for fip, blocks in _by_fip(window.requests)
    )
    notifications = tuple(
        NotificationFip(fip, tuple(_notification(code, tally) for code, tally in blocks))
        for fip, blocks in _by_fip(window.notifications)
    )
    made = [
        _payload(
            Tag.REQUESTS,
            start,
            RequestMetrics(
                agent_version=by.agent_version,
                json_version=JSON_VERSION,
                txn_id=transaction_id(by.aa_id, Tag.REQUESTS, start, revision),
                from_date_time=format_time(start),
                to_date_time=format_time(start + WINDOW),
                duration=WINDOW_SECONDS,
                aa_id=by.aa_id,
                fips=requests,
            ),
        ),
        _payload(
            Tag.NOTIFICATIONS,
            start,
            NotificationMetrics(
                agent_version=by.agent_version,
                json_version=JSON_VERSION,
                txn_id=transaction_id(by.aa_id, Tag.NOTIFICATIONS, start, revision),
                from_date_time=format_time(start),
                to_date_time=format_time(start + WINDOW),
                duration=WINDOW_SECONDS,
                aa_id=by.aa_id,
                fips=notifications,
            ),
        ),
    ]
    return [
        replace(payload, revision=revision)
        for payload in made
        if payload.tag not in without and payload.tag not in untouched
    ]


def transaction_id(aa_id: str, tag: Tag, start: int, revision: int = 0) -> str:
    """Return the same ID for the same revision of a window, always.

    A window that is sent twice, by a restored disk or by a second agent started by
    mistake, is refused by the operator (409) and reported; it never replaces the
    more complete one.
    """
    name = f"{aa_id}/{tag}/{start}" + (f"/{revision}" if revision else "")
    return str(uuid.uuid5(_TRANSACTIONS, name))


def format_time(wall: int) -> str:
    """Return ISO 8601 in UTC."""
    return datetime.fromtimestamp(wall / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _payload(tag: Tag, start: int, report: Report) -> Payload:
    return Payload(start, tag, report.txn_id, encode_report(report))


def _by_fip(blocks: Mapping[BlockKey, Tally]) -> list[tuple[str, list[tuple[str, Tally]]]]:
    found: dict[str, list[tuple[str, Tally]]] = {}
    for (fip, code), tally in sorted(blocks.items(), key=lambda block: block[0]):
        if tally.counts[0] or (tally.statuses is not None and any(tally.statuses)):
            found.setdefault(fip, []).append((code, tally))
    return list(found.items())


def _request(code: str, tally: Tally) -> RequestBlock:
    return RequestBlock(
        type=code,
        pxx=(0, 0, 0, 0) if tally.times is None else tally.times.percentiles(),
        counts=tuple(tally.counts),  # type: ignore[arg-type]  # a Tally holds fifteen
        sum_of_size_of_data_packets=str(tally.size) if code == _FETCH else UNSET,
    )


def _notification(code: str, tally: Tally) -> NotificationBlock:
    return NotificationBlock(
        type=code,
        counts=tuple(tally.counts),  # type: ignore[arg-type]  # a Tally holds fifteen
        status=UNSET if tally.statuses is None else tuple(tally.statuses),  # type: ignore[arg-type]  # seven
    )
