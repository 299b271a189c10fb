"""Refusals of a submission as a whole."""

from mudra.shared.finding import Finding
from mudra.shared.refusal import WAIT_TEXT, PlainRefusal, Refusal, RefusalKind


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


def too_many_writes(retry_after_s: int) -> PlainRefusal:
    """Refuse: the writes of an hour are used up."""
    return PlainRefusal(
        RefusalKind.LIMITED,
        f"the writes to the registry that one hour permits are used up; {WAIT_TEXT}",
        retry_after_s,
    )
