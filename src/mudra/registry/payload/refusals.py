"""Refusals of a submission as a whole."""

from typing import Final

from mudra.shared.finding import Finding
from mudra.shared.refusal import WAIT_TEXT, PlainRefusal, Refusal, RefusalKind

CALLS_PER_SECOND: Final = 2
"""Of one caller to each process, once `CALLS_AT_ONCE` are used up; checks apart from writes."""
CALLS_AT_ONCE: Final = 300


class PayloadRefused(Refusal, frozen=True):
    """A payload with findings; the answer carries all of them."""

    kind = RefusalKind.INVALID
    findings: tuple[Finding, ...]

    @property
    def sentence(self) -> str:
        """Returns the first finding, and how many more there are."""
        more = len(self.findings) - 1
        return self.findings[0].sentence() + (f" (and {more} more in findings)" if more else "")


class PayloadNotChecked(Refusal, frozen=True):
    """The check could not be finished now; nothing was stored."""

    kind = RefusalKind.BUSY
    sentence = "too many payloads wait to be checked; try again"
    retry_after_s: int = 5


def too_many_checks(retry_after_s: int) -> PlainRefusal:
    """Refuse: a caller sends payloads to be checked faster than they are read."""
    return _too_fast("checks of payloads", retry_after_s)


def too_fast_writes(retry_after_s: int) -> PlainRefusal:
    """Refuse: a caller writes to the registry faster than it is read."""
    return _too_fast("writes to the registry", retry_after_s)


def _too_fast(what: str, retry_after_s: int) -> PlainRefusal:
    return PlainRefusal(
        RefusalKind.LIMITED,
        f"each process of the service takes {CALLS_PER_SECOND} {what} a second from one caller, "
        f"{CALLS_AT_ONCE} at once; {WAIT_TEXT}",
        retry_after_s,
    )


def too_many_writes(retry_after_s: int) -> PlainRefusal:
    """Refuse: the writes of an hour are used up."""
    return PlainRefusal(
        RefusalKind.LIMITED,
        f"the writes to the registry that one hour permits are used up; {WAIT_TEXT}",
        retry_after_s,
    )
