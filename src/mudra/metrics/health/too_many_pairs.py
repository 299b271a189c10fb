"""The reason for which a large network has no row for each pair of AA and FIP.

Those of a nation are 80,000, with 280,000 APIs in a window: more than a process may hold.
"""

from typing import Final

from mudra.shared.refusal import Refusal, RefusalKind

MAX_PAIRS: Final = 4_000
"""With 14 APIs each: 150 MB while they are added up, and 20 MB of JSON. One AA calls fewer FIPs."""


class TooManyPairs(Refusal, frozen=True):
    """A row for each pair of AA and FIP was asked for, in a network with very many."""

    kind = RefusalKind.INVALID

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        return (
            f"aaId or fipId is required: more than {MAX_PAIRS:,} pairs of AA and FIP "
            "reported in this time; name one of them, or ask for aas, fips or the matrix"
        )
