"""Elements that a source received and did not count, by reason, each with a sample of the latest.

A sample names the field and what is wrong. It holds no body, no path and nothing of a customer:
of what was sent only a status, a time, a size, a host or an entity ID.
"""

import enum
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from mudra.server_protocol.printable import printable

MAX_SAMPLE: Final = 160


class Reason(enum.StrEnum):
    """A reason to leave an element or its answer out of the counts; a label of `/metrics`."""

    OTHER_CALL = "other_call"
    """A call that no type counts, or of a peer that is not a FIP."""
    UNKNOWN_PEER = "unknown_peer"
    """A call of an unknown FIP: its host is not configured, or its ID is invalid."""
    OUT_OF_TIME = "out_of_time"
    """Reported for a time in the future, or more than 7 days ago."""
    MALFORMED = "malformed"
    """No JSON, no OTLP, or no object."""
    BAD_FIELD = "bad_field"
    """A field that is needed is missing, or has another type."""
    BAD_NUMBER = "bad_number"
    """A status, time or size that is none."""
    BAD_TIME = "bad_time"
    TOO_LONG = "too_long"
    """A line of more than 1 MiB."""
    LOG_GAP = "log_gap"
    """A place in a log where lines may be missing: it was emptied, and no copy is there."""
    UNPROVEN = "unproven"
    """Counted without a status: nothing in the line shows that the FIP itself answered."""
    TOO_MUCH = "too_much"
    """A request with more events, spans or values than one may hold."""
    EMPTY = "empty"
    """A request without any event or span."""


MEANING: Final[Mapping[Reason, str]] = MappingProxyType(
    {
        Reason.OTHER_CALL: "calls of other kinds",
        Reason.UNKNOWN_PEER: "unknown FIP",
        Reason.OUT_OF_TIME: "out of time",
        Reason.MALFORMED: "malformed",
        Reason.BAD_FIELD: "a field is missing or of another type",
        Reason.BAD_NUMBER: "a number is none",
        Reason.BAD_TIME: "a time is none",
        Reason.TOO_LONG: "lines over 1 MiB",
        Reason.LOG_GAP: "places where lines of a log may be missing",
        Reason.UNPROVEN: "answers that no field proves to be the FIP's",
        Reason.TOO_MUCH: "requests that hold too much",
        Reason.EMPTY: "requests without an event",
    }
)
"""As `mudra agent status` shows them."""
UNREADABLE: Final = frozenset(
    {Reason.MALFORMED, Reason.BAD_FIELD, Reason.BAD_NUMBER, Reason.BAD_TIME, Reason.TOO_LONG}
)


class Unreadable(ValueError):
    """One element of an input cannot be counted; the text names the field."""

    def __init__(self, reason: Reason, text: str) -> None:
        super().__init__(text)
        self.reason = reason


@dataclass(slots=True)
class SourceMetrics:
    """The number of elements that were left out, and a sample of each reason."""

    counts: Counter[Reason] = field(default_factory=Counter)
    samples: dict[Reason, str] = field(default_factory=dict)

    def leave_out(self, reason: Reason, sample: str = "") -> None:
        """Count one more element."""
        self.counts[reason] += 1
        if sample:
            self.samples[reason] = sample[:MAX_SAMPLE]

    def add(self, other: "SourceMetrics") -> None:
        """Add what another reader left out."""
        self.counts += other.counts
        self.samples |= other.samples

    @property
    def unreadable(self) -> int:
        """Number of elements that are not what they should be."""
        return sum(self.counts[reason] for reason in UNREADABLE)


def shown(value: object) -> str:
    """Return a value of a field that holds nothing of a customer, fit for a sample."""
    return f'"{printable(value)}"' if isinstance(value, str) else printable(str(value))
