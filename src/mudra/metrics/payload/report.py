"""The two payloads on the wire: names, types and limits of spec 2.5 and 2.6.

Decoding with these types refuses most invalid payloads; `validation.py` checks the
rest and reports every error.
"""

from collections.abc import Iterable, Sequence
from typing import Annotated, Final

import msgspec
from msgspec import UNSET, Meta, UnsetType

from mudra.metrics.payload.catalogue import (
    MAX_COUNT,
    MAX_SIZE_DIGITS,
    NOTIFICATION_COUNT_NAMES,
    PERCENTILE_NAMES,
    REQUEST_COUNT_NAMES,
    STATUS_NAMES,
    WINDOW_SECONDS,
    NotificationType,
    RequestType,
    Tag,
)

Count = Annotated[int, Meta(ge=0, le=MAX_COUNT)]
Counts = tuple[
    Count, Count, Count, Count, Count,
    Count, Count, Count, Count, Count,
    Count, Count, Count, Count, Count,
]  # fmt: skip  # three rows of five are counted at a glance
Percentiles = tuple[Count, Count, Count, Count]
Statuses = tuple[Count, Count, Count, Count, Count, Count, Count]


def _positions(names: Sequence[str]) -> str:
    return ", ".join(f"{place} {name}" for place, name in enumerate(names, start=1))


def _codes(codes: Iterable[str]) -> dict[str, object]:
    return {"enum": [str(code) for code in codes]}


RequestCode = Annotated[
    str,
    Meta(
        description="the type of the calls",
        examples=[RequestType.ACCOUNT_DISCOVERY.value],
        extra_json_schema=_codes(RequestType),
    ),
]
RequestCounts = Annotated[
    Counts,
    Meta(
        description=f"numbers of calls by position: {_positions(REQUEST_COUNT_NAMES)}",
        examples=[[120, 114, 2, 0, 0, 1, *[0] * 8, 1]],
    ),
]
RequestTimes = Annotated[
    Percentiles,
    Meta(
        description="response time in milliseconds over the answered calls, not falling: "
        f"{_positions(PERCENTILE_NAMES)}",
        examples=[[310, 1240, 2890, 4110]],
    ),
]
NotificationCode = Annotated[
    str,
    Meta(
        description="the type of the notifications",
        examples=[NotificationType.FI.value],
        extra_json_schema=_codes(NotificationType),
    ),
]
NotificationCounts = Annotated[
    Counts,
    Meta(
        description=f"numbers of notifications by position: {_positions(NOTIFICATION_COUNT_NAMES)}",
        examples=[[40, 40, *[0] * 13]],
    ),
]
FinalStatuses = Annotated[
    Statuses,
    Meta(
        description="outcomes of FI requests, for the type finot only, by position: "
        f"{_positions(STATUS_NAMES)}",
        examples=[[38, 2, 30, 2, 8, 0, 5]],
    ),
]
WindowStart = Annotated[
    str,
    Meta(
        description="start of the window in UTC, at a multiple of ten minutes (ISO 8601)",
        examples=["2026-01-15T09:30:00.000Z"],
    ),
]
WindowEnd = Annotated[
    str,
    Meta(
        description="end of the window in UTC, 600 seconds after its start (ISO 8601)",
        examples=["2026-01-15T09:40:00.000Z"],
    ),
]
SIZE: Final = r"^(0|[1-9][0-9]*)\Z"
_LARGEST: Final = "9" * MAX_SIZE_DIGITS
ENTITY_ID: Final = r"^[A-Za-z0-9@._-]{1,64}\Z"  # such as fiu@bank
WORD: Final = r"^[!-~]([ -~]{0,126}[!-~])?\Z"
Size = Annotated[str, Meta(pattern=SIZE)]
EntityId = Annotated[str, Meta(pattern=ENTITY_ID)]
Word = Annotated[str, Meta(pattern=WORD)]
Seconds = Annotated[int, Meta(ge=WINDOW_SECONDS, le=WINDOW_SECONDS)]


class RequestBlock(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """One type of calls from one AA to one FIP in one window."""

    type: RequestCode
    pxx: RequestTimes
    counts: RequestCounts
    sum_of_size_of_data_packets: Size | UnsetType = UNSET
    """Bytes of encrypted packets, as a decimal string of any length; `fif` only."""

    @property
    def counted_size(self) -> str:
        """Returns the size as it is stored and summed; empty for a block without one."""
        size = self.sum_of_size_of_data_packets
        if size is UNSET:
            return ""
        return size if len(size) <= MAX_SIZE_DIGITS else _LARGEST


class RequestFip(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The calls that one AA sent to one FIP in one window."""

    fip_id: EntityId
    metrics: tuple[RequestBlock, ...]


class NotificationBlock(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """One type of notifications that one AA received from one FIP in one window."""

    type: NotificationCode
    counts: NotificationCounts
    status: FinalStatuses | UnsetType = UNSET


class NotificationFip(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The notifications that one AA received from one FIP in one window."""

    fip_id: EntityId
    metrics: tuple[NotificationBlock, ...]


class _Payload(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True
):
    """The fields that both payloads begin with."""

    agent_version: Word
    json_version: Word
    txn_id: Word
    from_date_time: WindowStart
    to_date_time: WindowEnd
    duration: Seconds
    aa_id: EntityId


class RequestMetrics(_Payload, frozen=True, kw_only=True, tag_field="tag", tag=Tag.REQUESTS.value):
    """Request-metrics payload, spec 2.5."""

    fips: tuple[RequestFip, ...]


class NotificationMetrics(
    _Payload, frozen=True, kw_only=True, tag_field="tag", tag=Tag.NOTIFICATIONS.value
):
    """Notification-metrics payload, spec 2.6."""

    fips: tuple[NotificationFip, ...]


Report = RequestMetrics | NotificationMetrics
Block = RequestBlock | NotificationBlock

_ENCODER: Final = msgspec.json.Encoder()


def encode_report(report: Report) -> bytes:
    """Returns the payload as JSON, with the exact names of the specification."""
    return _ENCODER.encode(report)


def tag_of(report: Report) -> Tag:
    """Returns the tag of a payload."""
    return Tag.REQUESTS if isinstance(report, RequestMetrics) else Tag.NOTIFICATIONS
