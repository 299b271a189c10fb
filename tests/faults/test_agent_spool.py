"""Quality G1: whatever happens to the file, a start is never blocked and intact records come back."""

import os
import random
import sqlite3
from pathlib import Path

import pytest

from mudra.agent.counting.payload import Payload
from mudra.agent.spool.spool import ClosedWindow, Spool, SpoolInUse
from mudra.metrics.payload.catalogue import Tag

WINDOW = 600_000
RECORDS = 20
PLACES = int(os.environ.get("MUDRA_SPOOL_PLACES", "25"))
"""How many offsets of the file are tried; a night may try thousands."""


def _payload(window: int, size: int) -> Payload:
    return Payload(window, Tag.REQUESTS, f"t{window}", random.Random(window).randbytes(size))


def _filled(directory: Path, size: int, *, clean: bool = True) -> dict[int, bytes]:
    """A file of 20 records, in its database file or, unless clean, in its write-ahead log."""
    spool = Spool(directory)
    made = [_payload(number * WINDOW, size) for number in range(RECORDS)]
    for number, payload in enumerate(made):
        spool.close_windows([ClosedWindow(payload.window, [payload], 0)], number + 1, b"state")
    if clean:
        spool.close()
    return {payload.window: payload.body for payload in made}


def _recovered(directory: Path) -> dict[int, bytes | None]:
    spool = Spool(directory)
    spool.recover()
    found = {queued.window: spool.body(queued) for queued in spool.queued()}
    spool.close()
    return found


def _copy(data: bytes, directory: Path) -> Path:
    directory.mkdir()
    (directory / "agent.db").write_bytes(data)
    return directory


@pytest.mark.parametrize("size", [200, 3_000])
def test_a_flipped_bit_costs_one_record_at_most_and_never_gives_a_wrong_one(
    tmp_path: Path, size: int
) -> None:
    bodies = _filled(tmp_path / "source", size)
    data = (tmp_path / "source" / "agent.db").read_bytes()
    chance = random.Random(size)
    positions = [
        *range(0, 100, 7),
        *range(16_384, 16_404, 3),
        *chance.sample(range(len(data)), PLACES),
    ]

    for place in positions:
        damaged = bytearray(data)
        damaged[place] ^= 1 << (place % 8)
        found = _recovered(_copy(bytes(damaged), tmp_path / str(place)))

        assert all(bodies[window] == body for window, body in found.items() if body is not None), (
            place
        )
        assert sum(found.get(window) == body for window, body in bodies.items()) >= RECORDS - 1, (
            place
        )


@pytest.mark.parametrize("size", [200, 3_000])
def test_a_file_cut_at_any_place_gives_every_record_that_lies_before_the_cut(
    tmp_path: Path, size: int
) -> None:
    bodies = _filled(tmp_path / "source", size)
    data = (tmp_path / "source" / "agent.db").read_bytes()
    ends = {window: data.find(body) + len(body) for window, body in bodies.items()}
    assert all(end >= size for end in ends.values())

    for cut in random.Random(size).sample(range(len(data)), PLACES):
        found = _recovered(_copy(data[:cut], tmp_path / str(cut)))

        assert all(
            found.get(window) == bodies[window] for window, end in ends.items() if end <= cut
        ), cut


def test_a_write_ahead_log_cut_at_any_place_gives_every_commit_before_the_cut(
    tmp_path: Path,
) -> None:
    bodies = _filled(tmp_path / "source", 500, clean=False)
    data = (tmp_path / "source" / "agent.db").read_bytes()
    log = (tmp_path / "source" / "agent.db-wal").read_bytes()
    seen = set()

    for number, cut in enumerate(sorted(random.Random(3).sample(range(len(log)), 30))):
        directory = _copy(data, tmp_path / str(cut))
        (directory / "agent.db-wal").write_bytes(log[:cut])
        found = _recovered(directory)

        assert list(found) == sorted(bodies)[: len(found)], cut
        assert all(found[window] == bodies[window] for window in found)
        seen.add(len(found))
        assert number >= 0
    assert len(seen) > 8


def test_a_record_with_a_wrong_checksum_is_dropped_and_counted(tmp_path: Path) -> None:
    _filled(tmp_path, 300)
    with sqlite3.connect(tmp_path / "agent.db") as db:
        db.execute("UPDATE record SET body = zeroblob(50) WHERE id = 7")
    db.close()

    spool = Spool(tmp_path)
    spool.recover()

    assert len(spool.queued()) == RECORDS - 1
    assert spool.fact("dropped_damaged") == 1
    spool.close()


def test_the_damaged_file_is_kept_beside_the_new_one(tmp_path: Path) -> None:
    _filled(tmp_path, 300)
    (tmp_path / "agent.db").write_bytes(b"no database at all" * 1_000)

    spool = Spool(tmp_path)
    spool.recover()

    assert spool.salvaged.kept_at == tmp_path / "agent.db.damaged-1"
    assert spool.salvaged.kept_at.read_bytes().startswith(b"no database")
    assert spool.queued() == []
    assert spool.fact("dropped_damaged") == spool.salvaged.lost >= 1
    spool.close()


def test_two_agents_cannot_have_one_spool(tmp_path: Path) -> None:
    first = Spool(tmp_path)

    with pytest.raises(SpoolInUse, match="stop that one first"):
        Spool(tmp_path)
    first.close()
