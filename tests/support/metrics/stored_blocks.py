"""Reported blocks as the database has them, for who looks behind the service."""

from collections.abc import Collection, Iterator
from datetime import datetime
from typing import NamedTuple

import psycopg

from mudra.metrics.payload.catalogue import window_number
from mudra.metrics.payload.report import Block
from mudra.metrics.sums.block_bytes import decoded
from mudra.metrics.sums.cells import Names
from mudra.metrics.sums.report_cells import blocks_of

_WINDOWS = (
    "SELECT aa_id, tag, at, numbers FROM metrics_block"
    " WHERE grain = 'window' AND tag IN ('req', 'not') AND aa_id <> '' AND (%(aa_ids)s::text[] IS NULL OR aa_id = ANY(%(aa_ids)s))"
)


class StoredBlock(NamedTuple):
    """One block of a report: `tag` is `req` or `not`."""

    aa_id: str
    tag: str
    at: datetime
    fip_id: str
    block: Block

    @property
    def calls(self) -> int:
        """The number of calls."""
        return self.block.counts[0]

    @property
    def window(self) -> str:
        """The window as a payload names it."""
        return f"{self.at:%Y-%m-%dT%H:%M:%SZ}"


def stored_blocks(
    connection: psycopg.Connection, aa_ids: Collection[str] | None = None
) -> Iterator[StoredBlock]:
    """Yield what is stored of the windows of some AAs, or of all."""
    wanted = None if aa_ids is None else sorted(aa_ids)
    for aa_id, tag, at, numbers in connection.execute(_WINDOWS, {"aa_ids": wanted}).fetchall():
        names = Names()
        cells = decoded(numbers, None, names, names.place(aa_id), window_number(at))
        for fip_id, block in blocks_of(cells, names.ids):
            yield StoredBlock(aa_id, tag, at, fip_id, block)
