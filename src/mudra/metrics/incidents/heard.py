"""What the reports of a window say, and which of them cannot be read."""

from typing import TYPE_CHECKING

from msgspec import Struct

from mudra.metrics.payload.catalogue import Tag

if TYPE_CHECKING:
    from mudra.metrics.sums.totals import Totals


class Heard(Struct, frozen=True):
    """What the reports of a window say."""

    totals: "Totals"
    lost: frozenset[tuple[str, Tag]] = frozenset()
    """AAs and tags whose report has a damaged block: nothing of it is in the totals."""
