"""A data directory that is loaded once: with `KEEP=DIR` the next run only asks."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import psycopg

from bench.support import data_directory, database_kept_up, say, scratch


@contextmanager
def loaded_once(
    load: Callable[[Path, datetime], None], now: datetime
) -> Iterator[tuple[Path, datetime]]:
    """Gives the folder and the moment up to which it was loaded: now, or that of a former run."""
    with scratch() as directory:
        folder = Path(os.environ.get("KEEP", directory))
        loaded = folder / "loaded"
        with database_kept_up(data_directory(str(folder))):
            if not loaded.exists():
                began = time.monotonic()
                load(folder, now)
                say(f"loaded after {time.monotonic() - began:.0f} s")
                loaded.write_text(now.isoformat())
            yield folder, datetime.fromisoformat(loaded.read_text())


def print_largest_tables(connection: psycopg.Connection) -> None:
    """Print the largest tables of the metrics, after a vacuum of all."""
    connection.execute("VACUUM ANALYZE")
    for name, size in connection.execute(
        "SELECT relname, pg_size_pretty(pg_total_relation_size(oid)) FROM pg_class"
        " WHERE relname LIKE 'metrics%' AND relkind = 'r'"
        " ORDER BY pg_total_relation_size(oid) DESC LIMIT 6"
    ):
        print(f"    {name}: {size}")
