"""Stored metrics for commands: implements metrics/rollup/stored_metrics.py StoredMetrics."""

import asyncio
import shutil
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Final
from urllib.parse import quote

import sqlalchemy as sa
from msgspec.structs import replace

from mudra import DISTRIBUTION
from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.metrics.payload.catalogue import Tag
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.damage import BlockDamaged, Checked, NothingFiner
from mudra.metrics.rollup.rollup_service import RECOUNTED_DAYS, RollupService
from mudra.metrics.rollup.stale import Stale
from mudra.metrics.rollup.stored_metrics import (
    ExportedFile,
    ExportOrder,
    ExportRefused,
    OnBytes,
    OnRows,
    Remade,
    SumsPlace,
)
from mudra.storage.database.database import Database
from mudra.storage.metrics.blocks.checking import check_blocks
from mudra.storage.metrics.blocks.export_files import (
    RowFile,
    TooLargeForParquet,
    can_write_parquet,
    put_together,
)
from mudra.storage.metrics.blocks.exporting import cells_of_day
from mudra.storage.metrics.blocks.grain import Grain
from mudra.storage.metrics.blocks.sums.refresh import BlockSums
from mudra.storage.metrics.blocks.sums.remaking import blocks_at
from mudra.storage.metrics.removal import remove_damaged_report
from mudra.storage.metrics.report_marks import PostgresReportMarks
from mudra.storage.metrics.stored_report import long_tag

REMAKE_S: Final = 900.0
"""A month of days of a nation's AA takes some minutes."""
EXPORT_S: Final = 3600.0
"""Of a day; one statement may take half as long, since rows are written while it is read."""


class PostgresStoredMetrics:
    """The metrics of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def check(self, on_bytes: OnBytes) -> Checked:
        """Reads all blocks; returns the damaged ones."""
        return await check_blocks(self._database, on_bytes)

    async def remake(self, places: Sequence[SumsPlace]) -> Sequence[Remade]:
        """Makes sums again of what is finer, one after the other."""
        return [Remade(place, await self._remake(place)) for place in places]

    async def _remake(self, place: SumsPlace) -> str:
        """Makes the sums of both tags; returns the reason why that is not possible."""
        async with self._database.transaction() as tx:
            stored = await blocks_at(tx, place.aa_id, Grain(place.grain), place.at)
        tags = {long_tag(tag) for tag in stored}
        if not tags:
            return "there are no such sums"
        for tag in sorted(tags):
            try:
                async with self._database.transaction(within_s=REMAKE_S) as tx:
                    sums = Stale(place.grain, place.aa_id, tag, (place.at,))
                    await RollupService(BlockSums(tx)).remake(sums)
            except NothingFiner:
                return "what they are made of is kept no more: restore them from a backup"
            except BlockDamaged as error:
                return f"what they are made of is damaged as well: the {error.place.words}"
        return ""

    async def remove(self, aa_id: str, tag: Tag, window: datetime, caller: Caller) -> bool:
        """Removes a damaged report; returns False where it is not damaged."""
        async with self._database.transaction() as tx:
            removed = await remove_damaged_report(tx, aa_id, tag, window)
            if removed:
                detail = {"window": window.isoformat(), "tag": str(tag)}
                entry = AuditEntry(
                    EventName.METRICS_REPORT_REMOVE, caller, aa_id, reason="damaged", detail=detail
                )
                await AuditLog(tx).append(entry)
        return removed

    async def last_whole_day(self) -> date:
        """Returns the last day (UTC) that is over."""
        async with self._database.transaction() as tx:
            return ((await tx.now()).astimezone(UTC) - timedelta(days=1)).date()

    async def export(self, order: ExportOrder, on_rows: OnRows) -> Sequence[ExportedFile]:
        """Writes a file for each day, or of a year. Raises ExportRefused, BlockDamaged, OSError."""
        if order.form == "parquet" and not can_write_parquet():
            raise ExportRefused(
                f"Parquet needs DuckDB: install {DISTRIBUTION}[parquet], or choose CSV"
            )
        if order.year:
            return [await self._export_year(order, on_rows)]
        return [await self._export_day(order, day, on_rows) for day in order.days]

    async def _export_year(self, order: ExportOrder, on_rows: OnRows) -> ExportedFile:
        """Writes the days into files of their own, so that it goes on where it was cut short."""
        path = _path(order, None)
        if path.exists() and not order.again:
            return ExportedFile(path, None, path.stat().st_size)
        parts = path.with_name(f".{path.name}.days")
        of_day = replace(order, out=parts, again=False)
        days = await self._days_with_calls(order.days)
        if not days:
            raise ExportRefused(f"nothing of {order.year} is stored")
        files = []
        for day in days:
            part = _path(of_day, day)
            if part.exists() and _is_early(part, day):
                part.unlink()  # late reports may have changed it since
            files.append((await self._export_day(of_day, day, on_rows)).path)
        rows = await asyncio.to_thread(put_together, files, path)
        await asyncio.to_thread(shutil.rmtree, parts)
        return ExportedFile(path, rows, path.stat().st_size)

    async def _days_with_calls(self, days: Sequence[date]) -> Sequence[date]:
        """Returns the days of which there are reports or sums, in order."""
        start, end = (datetime.combine(day, time(), UTC) for day in (days[0], days[-1]))
        async with self._database.transaction() as tx:
            within = TimeRange(start, end + timedelta(days=1))
            found = await PostgresReportMarks(tx).marks(within, within.start)
        return sorted(at.date() for at in found)

    async def _export_day(self, order: ExportOrder, day: date, on_rows: OnRows) -> ExportedFile:
        path = _path(order, day)
        if path.exists() and not order.again:
            return ExportedFile(path, None, path.stat().st_size)
        path.parent.mkdir(parents=True, exist_ok=True)
        file, rows = RowFile(path), 0
        on_rows(path.name, 0)
        begin = datetime.combine(day, time(), UTC)
        of_aa, grain = order.aa_id or None, Grain(order.grain)
        try:
            async with self._database.transaction(within_s=EXPORT_S) as tx:
                await tx.take_time(EXPORT_S / 2)
                await tx.stay_open(EXPORT_S)
                await tx.connection.execute(sa.text("SET TRANSACTION READ ONLY"))
                async for cells, ids in cells_of_day(tx, begin, grain, of_aa, order.fip_id or None):
                    await asyncio.to_thread(file.add, cells, ids)
                    rows += len(cells)
                    on_rows(path.name, rows)
            size = await asyncio.to_thread(file.finish)
        except TooLargeForParquet as error:
            raise ExportRefused(
                f"a number of {day} is beyond the 64 bits of a Parquet column: choose CSV"
            ) from error
        finally:
            file.give_up()
        return ExportedFile(path, rows, size)


def _is_early(part: Path, day: date) -> bool:
    """Returns whether a file was written while late reports of its day could still come."""
    written = datetime.fromtimestamp(part.stat().st_mtime, UTC).date()
    return written <= day + timedelta(days=RECOUNTED_DAYS)


def _path(order: ExportOrder, day: date | None) -> Path:
    """Returns the file of a day, or of the year."""
    if order.out.suffix == f".{order.form}":
        return order.out
    ids = (quote(one, safe="@") for one in (order.aa_id, order.fip_id))
    parts = ["metrics", order.grain, day.isoformat() if day else str(order.year), *ids]
    return order.out / f"{'-'.join(filter(None, parts))}.{order.form}"
