"""Sums of blocks for tests of what is read from them."""

from collections.abc import Iterable
from datetime import datetime

from tests.support.metrics.random_blocks import Reported, reports_of

from mudra.metrics.payload.catalogue import Tag, window_number
from mudra.metrics.payload.report import Block, RequestBlock
from mudra.metrics.sums.adding import joined
from mudra.metrics.sums.cells import Names
from mudra.metrics.sums.report_cells import report_cells
from mudra.metrics.sums.totals import Totals


def reported_by(aa_id: str, fip_id: str, block: Block, at: int | datetime = 0) -> Reported:
    """A block as an AA reports it of a window."""
    tag = Tag.REQUESTS if isinstance(block, RequestBlock) else Tag.NOTIFICATIONS
    return Reported(at if isinstance(at, int) else window_number(at), aa_id, tag, fip_id, block)


def totals_of(blocks: Iterable[Reported]) -> Totals:
    """The reported counts, each block a row."""
    names = Names()
    found = [report_cells(report, names) for report in reports_of([*blocks])]
    return Totals(joined(found), names.ids)


def together(*blocks: Block) -> Totals:
    """The sums of blocks of one type, each of another window of one pair; one as reported."""
    totals = totals_of(reported_by("AA-1", "FIP-1", block, at) for at, block in enumerate(blocks))
    return totals if len(blocks) == 1 else totals.by("type")
