"""Backup and restore of a database with a hundred million cells of metrics: how long each takes.

    CELLS=100000000 python -m bench.restore

A service runs while its backup is made; then the backup is verified, and restored to a new data
directory, whose service starts. The blocks are counted, and a secret of before the backup must get
a token. 100,000,000 cells are some 0.5 GB of tables and indexes. Times are by the wall, so the load
of the machine is printed with them.
"""

import asyncio
import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import httpx2
import psycopg

from bench.entity_token import make_members
from bench.history import load_windows
from bench.sizes import exit_code, sized
from bench.support import RunningService, data_directory, database_kept_up, mudra, say, scratch
from mudra.storage.database.embedded.server import embedded_server

CELLS = int(os.environ.get("CELLS", sized(100_000_000, 100)))
AAS = sized(20, 2)
FIPS = sized(450, 3)
GOAL_S = 1800.0
"""Until the service answers again."""
T = TypeVar("T")


def timed(name: str, act: Callable[[], T]) -> tuple[T, float]:
    """Do it; print and give how long it took."""
    began = time.monotonic()
    done = act()
    seconds = time.monotonic() - began
    print(f"{name}: {seconds:.1f} s (load {os.getloadavg()[0]:.1f})", flush=True)
    return done, seconds


def fill(data_dir: Path, aas: list[str]) -> int:
    """Write the blocks; gives their number."""
    fips = [f"BANK-{place:04}" for place in range(FIPS)]
    with embedded_server(data_dir) as url:
        asyncio.run(load_windows(url, aas, fips, CELLS))
        with psycopg.connect(url) as connection:
            size = connection.execute(
                "SELECT pg_size_pretty(pg_database_size(current_database())),"
                " pg_size_pretty(sum(pg_total_relation_size(relid)))"
                " FROM pg_partition_tree('metrics_block')"
            ).fetchone()
    assert size is not None
    print(f"a database of {size[0]}, the blocks with their indexes {size[1]}")
    return blocks_of(data_dir)


def blocks_of(data_dir: Path) -> int:
    """Count the blocks of a data directory's database."""
    with embedded_server(data_dir) as url, psycopg.connect(url) as connection:
        found = connection.execute("SELECT count(*) FROM metrics_block").fetchone()
    return int(found[0]) if found else 0


def main() -> int:
    """Fill, back up, verify, restore, start; 1 when something is missing or it took too long."""
    with scratch() as folder:
        data_dir, there = data_directory(folder), Path(folder) / "there"
        with database_kept_up(data_dir):
            members = make_members(data_dir, AAS, "AA")
            made = fill(data_dir, list(members))
        say("filled")
        key, kept = Path(folder) / "backup.key", Path(folder) / "kept"
        recipient = mudra("backup", "key", str(key)).strip()
        words = ("backup", "create", "--to", str(kept), "--recipient", recipient)
        with RunningService(data_dir):
            timed(
                "backup, while the service runs", lambda: mudra(*words, "--data-dir", str(data_dir))
            )
        (file,) = kept.glob("*.dump.age")
        print(f"the file: {file.stat().st_size / 1e6:,.0f} MB")
        timed("verify", lambda: mudra("backup", "verify", str(file), "--identity", str(key)))
        there.mkdir(mode=0o700)
        for name in ("master.key", "audit-checkpoints.jsonl"):
            if (data_dir / name).exists():
                shutil.copy2(data_dir / name, there / name)
        words = ("restore", str(file), "--identity", str(key), "--data-dir", str(there))
        _, restored_s = timed("restore, with all that follows", lambda: mudra(*words))
        entity_id, secret = next(iter(members.items()))

        def first_token() -> int:
            with RunningService(there) as service:
                answer = httpx2.post(
                    f"http://127.0.0.1:{service.port}/iam/v1/entity/token/generate",
                    data={"id": entity_id, "secret": secret},
                )
            return answer.status_code

        with database_kept_up(there):
            status, started_s = timed("start, and a token for a secret of before", first_token)
            found = blocks_of(there)
    total = restored_s + started_s
    print(
        f"blocks {found:,} of {made:,}; token {status};"
        f" restore until the first token: {total:.0f} s (goal {GOAL_S:.0f})"
    )
    return exit_code(met=found == made and status == httpx2.codes.OK and total <= GOAL_S)


if __name__ == "__main__":
    sys.exit(main())
