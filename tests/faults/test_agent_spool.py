"""Quality G1: no damage on the disk prevents a start or changes a payload that is intact."""

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from mudra.agent.counting.payload import Payload
from mudra.agent.spool.dead_letter import request_resend, requeue, write_dead_letter
from mudra.agent.spool.payload_files import QueuedPayload
from mudra.agent.spool.spool import ClosedWindow, Spool, SpoolInUse
from mudra.metrics.payload.catalogue import Tag

WINDOW = 600_000
PAYLOADS = 20
PLACES = int(os.environ.get("MUDRA_SPOOL_PLACES", "25"))
"""How many offsets of each kind of file are tried; a night may try thousands."""


def _payload(window: int, size: int) -> Payload:
    return Payload(window, Tag.REQUESTS, f"t{window}", random.Random(window).randbytes(size))


def _filled(directory: Path, size: int) -> tuple[Spool, dict[int, bytes]]:
    """A spool of 20 windows, with events after the last one."""
    spool = Spool(directory)
    payloads = [_payload(number * WINDOW, size) for number in range(PAYLOADS)]
    for number, payload in enumerate(payloads):
        closed = [ClosedWindow(payload.window, [payload])]
        spool.close_windows(closed, number + 1, b"state", payload.window + 2 * WINDOW)
    spool.write_journal(PAYLOADS + 1, b"entry")
    return spool, {payload.window: payload.body for payload in payloads}


def _copied(source: Path, target: Path) -> Path:
    """The files of a spool as a crash leaves them."""
    target.mkdir(mode=0o700, parents=True)
    (target / "payloads").mkdir()
    for path in [*source.glob("agent.db*"), *(source / "payloads").iterdir()]:
        shutil.copy(path, target / path.relative_to(source))
    return target


def _recovered(directory: Path) -> tuple[dict[int, bytes | None], Spool]:
    spool = Spool(directory)
    spool.recover()
    return {queued.window: spool.body(queued) for queued in spool.queued()}, spool


def _flipped(data: bytes, place: int) -> bytes:
    damaged = bytearray(data)
    damaged[place] ^= 1 << (place % 8)
    return bytes(damaged)


def _cut(data: bytes, place: int) -> bytes:
    return data[:place]


@pytest.mark.parametrize("damage", [_flipped, _cut])
@pytest.mark.parametrize("size", [200, 3_000])
def test_a_damaged_payload_costs_itself_only_and_is_dropped_and_counted(
    tmp_path: Path, size: int, damage: Callable[[bytes, int], bytes]
) -> None:
    spool, bodies = _filled(tmp_path / "source", size)
    spool.close()
    chance = random.Random(size)

    for number in range(PLACES):
        directory = _copied(tmp_path / "source", tmp_path / str(number))
        victim = chance.choice(sorted((directory / "payloads").iterdir()))
        data = victim.read_bytes()
        place = chance.randrange(len(data))
        victim.write_bytes(damage(data, place))
        found, spool = _recovered(directory)
        lost = bodies.keys() - found.keys()

        assert len(lost) <= 1, (victim, place)
        assert all(bodies[window] == body for window, body in found.items()), (victim, place)
        assert (spool.fact("dropped_damaged") or 0) == len(lost)
        spool.close()


@pytest.mark.parametrize("damage", [_flipped, _cut])
def test_a_damaged_journal_costs_no_payload_and_prevents_no_start(
    tmp_path: Path, damage: Callable[[bytes, int], bytes]
) -> None:
    spool, bodies = _filled(tmp_path / "source", 300)
    spool.close()
    data = (tmp_path / "source" / "agent.db").read_bytes()
    places = [*range(0, 100, 7), *random.Random(4).sample(range(len(data)), PLACES)]

    for place in places:
        directory = _copied(tmp_path / "source", tmp_path / str(place))
        (directory / "agent.db").write_bytes(damage(data, place))
        found, spool = _recovered(directory)

        assert found == bodies, place
        assert spool.discard_unfinished({}) == set(bodies), "their windows stay closed"
        spool.close()


def test_a_write_ahead_log_cut_at_any_place_gives_every_commit_before_the_cut(
    tmp_path: Path,
) -> None:
    spool, bodies = _filled(tmp_path / "source", 500)
    source = _copied(tmp_path / "source", tmp_path / "crashed")
    spool.close()
    log = (source / "agent.db-wal").read_bytes()
    seen = set()

    for cut in sorted(random.Random(3).sample(range(len(log)), 30)):
        directory = _copied(source, tmp_path / str(cut))
        (directory / "agent.db-wal").write_bytes(_cut(log, cut))
        spool = Spool(directory)
        closed = spool.recover().closed

        assert sorted(closed) == sorted(bodies)[: len(closed)], cut
        assert {queued.window: spool.body(queued) for queued in spool.queued()} == bodies
        seen.add(len(closed))
        spool.close()
    assert len(seen) > 8


@pytest.mark.parametrize("damage", [b"\xff", b'{"txnId":"\xff"}', b'{"txnId":' + b"[" * 100_000])
def test_a_damaged_dead_letter_is_set_aside_and_stops_no_other(
    tmp_path: Path, damage: bytes
) -> None:
    spool = Spool(tmp_path)
    good, bad = (QueuedPayload(window, Tag.REQUESTS, "t", 2) for window in (WINDOW, 0))
    paths = [write_dead_letter(tmp_path, one, b"{}", 409, "why", WINDOW) for one in (good, bad)]
    request_resend(tmp_path, paths, WINDOW)
    (tmp_path / "resend" / paths[1].name).write_bytes(damage)

    requeue(tmp_path, spool)

    assert [one.window for one in spool.queued()] == [WINDOW]
    assert [one.suffix for one in (tmp_path / "resend").iterdir()] == [".unreadable"]
    spool.close()


def test_the_damaged_journal_is_kept_next_to_the_new_one(tmp_path: Path) -> None:
    spool, bodies = _filled(tmp_path, 300)
    spool.close()
    (tmp_path / "agent.db").write_bytes(b"no database at all" * 1_000)

    found, spool = _recovered(tmp_path)

    assert spool.damaged_copy == tmp_path / "agent.db.damaged-1"
    assert spool.damaged_copy.read_bytes().startswith(b"no database")
    assert found == bodies
    assert spool.fact("dropped_damaged") == 1
    spool.close()


def test_files_of_a_window_that_was_not_closed_yet_are_deleted(tmp_path: Path) -> None:
    spool, bodies = _filled(tmp_path, 300)

    kept = spool.discard_unfinished({0: 0, WINDOW: 0})

    assert kept == bodies.keys() - {0, WINDOW}
    assert {queued.window for queued in spool.queued()} == kept
    assert len(list((tmp_path / "payloads").iterdir())) == PAYLOADS - 2
    spool.close()


def test_half_a_file_of_a_crash_is_cleared_away(tmp_path: Path) -> None:
    spool, _ = _filled(tmp_path, 300)
    spool.close()
    (tmp_path / "payloads" / "1_req-fipMetrics-aa_t.draft").write_bytes(b"half")

    _, spool = _recovered(tmp_path)

    assert len(list((tmp_path / "payloads").iterdir())) == PAYLOADS
    assert spool.backlog().payloads == PAYLOADS
    spool.close()


def test_two_agents_cannot_have_one_spool(tmp_path: Path) -> None:
    first = Spool(tmp_path)

    with pytest.raises(SpoolInUse, match="stop that one first"):
        Spool(tmp_path)
    first.close()


def test_a_payload_that_cannot_be_read_prevents_no_start_and_is_not_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool, bodies = _filled(tmp_path, 300)
    spool.close()

    def broken(_: Path) -> bytes:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "read_bytes", broken)
        spool = Spool(tmp_path)
        spool.recover()

    assert {queued.window: spool.body(queued) for queued in spool.queued()} == bodies
    spool.close()
