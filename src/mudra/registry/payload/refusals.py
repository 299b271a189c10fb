"""Refusals of a submission as a whole."""

from mudra.shared.finding import Finding
from mudra.shared.refusal import Refusal


class PayloadRefused(Refusal, frozen=True):
    """A payload with findings; the answer carries all of them."""

    findings: tuple[Finding, ...]

    def sentence(self) -> str:
        """Return the first finding, and how many more there are."""
        more = len(self.findings) - 1
        return self.findings[0].sentence() + (f" (and {more} more in findings)" if more else "")


class PayloadNotChecked(Refusal, frozen=True):
    """The check could not be finished now; nothing was stored."""

    retry_after_s: int = 5


class TooManyWrites(Refusal, frozen=True):
    """The writes of an hour are used up."""

    retry_after_s: int
