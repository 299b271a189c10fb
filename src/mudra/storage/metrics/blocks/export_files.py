"""Writes cells into files: CSV always, Parquet by DuckDB of the same rows.

A file has its name once it is whole and on the disk, so a run that was cut short goes on with the
next one. The rows wait in a file next to it while DuckDB makes a Parquet file of them.
"""

import csv
import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from mudra.metrics.sums.cells import Cells
from mudra.metrics.sums.table_rows import COLUMNS, NAMES, NUMBERS, UNBOUNDED, table_rows

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_SQL_TYPES: Final = {
    **dict.fromkeys(NAMES, "VARCHAR"),
    **dict.fromkeys(NUMBERS, "BIGINT"),
    "starts_at": "TIMESTAMPTZ",
    UNBOUNDED: "VARCHAR",
}
_MEMORY: Final = "512MB"
_INTO_PARQUET: Final = (
    "COPY (SELECT * FROM read_csv({source}, header = true, auto_detect = false, delim = ',',"
    " quote = '\"', escape = '\"', columns = {columns}))"
    " TO {target} (FORMAT parquet, COMPRESSION zstd)"
)


_TOGETHER: Final = (
    "COPY (SELECT * FROM read_parquet([{sources}])) TO {target} (FORMAT parquet, COMPRESSION zstd)"
)


class TooLargeForParquet(Exception):
    """A count is beyond the 64 bits of a column."""


def can_write_parquet() -> bool:
    """Returns whether DuckDB is there."""
    return importlib.util.find_spec("duckdb") is not None


class RowFile:
    """One file of rows, which has its name after `finish`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows = _next_to(path, "rows")
        self._file: IO[str] = self._rows.open("w", newline="", encoding="utf-8")
        self._writer = csv.writer(self._file, lineterminator="\n")
        self._writer.writerow(COLUMNS)

    def add(self, cells: Cells, ids: Sequence[str]) -> None:
        """Writes the rows of these cells."""
        self._writer.writerows(table_rows(cells, ids))

    def finish(self) -> int:
        """Gives the file its name; returns its size in bytes. Raises TooLargeForParquet."""
        made = self._rows
        _sync(self._file)
        self._file.close()
        if self._path.suffix == ".parquet":
            made = _next_to(self._path, "part")
            _into_parquet(self._rows, made)
            self._rows.unlink()
        _name(made, self._path)
        return self._path.stat().st_size

    def give_up(self) -> None:
        """Deletes what was written."""
        self._file.close()
        self._rows.unlink(missing_ok=True)
        _next_to(self._path, "part").unlink(missing_ok=True)


def put_together(parts: Sequence[Path], target: Path) -> int:
    """Makes one Parquet file of several, in their order; returns the number of its rows."""
    made = _next_to(target, "part")
    sources = ", ".join(_quoted(str(one)) for one in parts)
    with _duckdb(in_order=True) as connection:
        found = connection.execute(_TOGETHER.format(sources=sources, target=_quoted(str(made))))
        ((rows,),) = found.fetchall()
    _name(made, target)
    return int(rows)


def _name(made: Path, path: Path) -> None:
    """Gives a file its name once it is on the disk."""
    with made.open("rb") as file:
        os.fsync(file.fileno())
    made.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _next_to(path: Path, kind: str) -> Path:
    return path.with_name(f".{path.name}.{kind}")


def _sync(file: IO[str]) -> None:
    file.flush()
    os.fsync(file.fileno())


def _into_parquet(source: Path, target: Path) -> None:
    import duckdb  # noqa: PLC0415  # of the extra `parquet`

    statement = _INTO_PARQUET.format(
        source=_quoted(str(source)),
        target=_quoted(str(target)),
        columns="{"
        + ", ".join(f"{_quoted(name)}: {_quoted(_SQL_TYPES[name])}" for name in COLUMNS)
        + "}",
    )
    with _duckdb() as connection:
        try:
            connection.execute(statement)
        except duckdb.ConversionException as error:
            raise TooLargeForParquet from error


def _duckdb(*, in_order: bool = False) -> "DuckDBPyConnection":
    import duckdb  # noqa: PLC0415  # of the extra `parquet`

    options: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": _MEMORY,
        "autoinstall_known_extensions": False,  # it would ask the internet for them
        "preserve_insertion_order": in_order,
    }
    return duckdb.connect(":memory:", config=options)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
