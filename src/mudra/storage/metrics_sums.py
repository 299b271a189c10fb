"""Rows of sums (hours, days) and raw rows as metrics/rollup.py knows them, both ways."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, cast

import sqlalchemy as sa
from msgspec import UNSET
from sqlalchemy.engine import RowMapping

from mudra.metrics.catalogue import Tag
from mudra.metrics.ports import Cell
from mudra.metrics.report import (
    Block,
    Counts,
    NotificationBlock,
    Percentiles,
    RequestBlock,
    Statuses,
)
from mudra.metrics.rollup import Rollup
from mudra.metrics.spread import Spread
from mudra.storage.metrics import long_tag, short_tag
from mudra.storage.metrics_tables import metrics_raw

CELL: Final = ("aa_id", "tag", "fip_id", "type")


@dataclass(frozen=True, slots=True)
class Part:
    """Narrows a question to one AA, one FIP, one tag; None for all."""

    aa_id: str | None = None
    fip_id: str | None = None
    tag: Tag | None = None

    def of(self, table: sa.Table) -> list[sa.ColumnElement[bool]]:
        """The conditions on a table with the columns of a cell."""
        wanted = {
            "aa_id": self.aa_id,
            "fip_id": self.fip_id,
            "tag": None if self.tag is None else short_tag(self.tag),
        }
        return [table.c[name] == value for name, value in wanted.items() if value is not None]


def within_times(column: sa.Column[object], times: Sequence[datetime]) -> sa.ColumnElement[bool]:
    """One of these times; the bounds let the planner leave other partitions alone."""
    return sa.and_(
        column >= min(times), column <= max(times), column == sa.any_(sa.literal(list(times)))
    )


def cell_of(row: RowMapping) -> Cell:
    """Whose figures a row holds."""
    return Cell(row["aa_id"], row["fip_id"], long_tag(row["tag"]), row["type"])


def block_of(row: RowMapping) -> Block:
    """The block that a raw row was made of."""
    counts = cast("Counts", tuple(row["counts"]))
    if row["pxx"] is not None:
        size = row["data_bytes"]
        return RequestBlock(
            row["type"],
            cast("Percentiles", tuple(row["pxx"])),
            counts,
            UNSET if size is None else str(int(size)),
        )
    status = row["status"]
    return NotificationBlock(
        row["type"], counts, UNSET if status is None else cast("Statuses", tuple(status))
    )


def rollup_of(row: RowMapping) -> Rollup:
    """The sums that a row of hours or days holds."""
    return Rollup(
        row["blocks"],
        tuple(row["counts"]),
        tuple(row["statuses"]),
        int(row["data_bytes"]),
        Spread(
            coarse=True,
            cells=tuple(row["cells"]),
            surely=tuple(row["surely"]),
            maybe=tuple(row["maybe"]),
            likely=tuple(row["likely"]),
            longest=row["longest"],
        ),
    )


def row_of(at: datetime, cell: Cell, sums: Rollup) -> dict[str, object]:
    """A row of hours or days; its times must be coarse."""
    assert sums.times.coarse or not sums.times.cells
    return {
        "at": at,
        "aa_id": cell.aa_id,
        "tag": short_tag(cell.tag),
        "fip_id": cell.fip_id,
        "type": cell.type,
        "blocks": sums.blocks,
        "counts": list(sums.counts),
        "statuses": list(sums.statuses),
        "data_bytes": sums.data_bytes,
        "cells": list(sums.times.cells),
        "surely": list(sums.times.surely),
        "maybe": list(sums.times.maybe),
        "likely": list(sums.times.likely),
        "longest": sums.times.longest,
    }


def raw_query(times: Sequence[datetime], part: Part) -> sa.Select[tuple[object, ...]]:
    """Raw rows of these windows."""
    return sa.select(metrics_raw).where(
        within_times(metrics_raw.c.window_at, times), *part.of(metrics_raw)
    )


def sums_query(
    table: sa.Table, times: Sequence[datetime], part: Part
) -> sa.Select[tuple[object, ...]]:
    """Rows of sums of these hours or days."""
    return sa.select(table).where(within_times(table.c.at, times), *part.of(table))


def blocks_by_cell(rows: Iterable[RowMapping]) -> Mapping[Cell, list[Block]]:
    """Raw rows, sorted by whose they are."""
    found: dict[Cell, list[Block]] = defaultdict(list)
    for row in rows:
        found[cell_of(row)].append(block_of(row))
    return found


def sums_by_cell(rows: Iterable[RowMapping]) -> Mapping[Cell, list[Rollup]]:
    """Rows of sums, sorted by whose they are."""
    found: dict[Cell, list[Rollup]] = defaultdict(list)
    for row in rows:
        found[cell_of(row)].append(rollup_of(row))
    return found
