"""The two payloads on the wire: names, types and limits of spec 2.5 and 2.6.

Decoding with these types refuses most invalid payloads; `validation.py` checks the
rest and reports every error.
"""

from typing import Annotated, Final

import msgspec
from msgspec import UNSET, Meta, UnsetType

from mudra.metrics.payload.catalogue import MAX_COUNT, MAX_SIZE_DIGITS, WINDOW_SECONDS, Tag

Count = Annotated[int, Meta(ge=0, le=MAX_COUNT)]
Counts = tuple[
    Count, Count, Count, Count, Count,
    Count, Count, Count, Count, Count,
    Count, Count, Count, Count, Count,
]  # fmt: skip  # three rows of five are counted at a glance
Percentiles = tuple[Count, Count, Count, Count]
Statuses = tuple[Count, Count, Count, Count, Count, Count, Count]
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

    type: str
    pxx: Percentiles
    """Response time in milliseconds over the answered calls: p50, p95, p99, p100."""
    counts: Counts
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

    type: str
    counts: Counts
    status: Statuses | UnsetType = UNSET
    """The outcomes of FI requests; `finot` only."""


class NotificationFip(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The notifications that one AA received from one FIP in one window."""

    fip_id: EntityId
    metrics: tuple[NotificationBlock, ...]


class RequestMetrics(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    rename="camel",
    forbid_unknown_fields=True,
    tag_field="tag",
    tag=Tag.REQUESTS.value,
):
    """Request-metrics payload, spec 2.5."""

    agent_version: Word
    json_version: Word
    txn_id: Word
    from_date_time: str
    to_date_time: str
    duration: Seconds
    aa_id: EntityId
    fips: tuple[RequestFip, ...]


class NotificationMetrics(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    rename="camel",
    forbid_unknown_fields=True,
    tag_field="tag",
    tag=Tag.NOTIFICATIONS.value,
):
    """Notification-metrics payload, spec 2.6."""

    agent_version: Word
    json_version: Word
    txn_id: Word
    from_date_time: str
    to_date_time: str
    duration: Seconds
    aa_id: EntityId
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
