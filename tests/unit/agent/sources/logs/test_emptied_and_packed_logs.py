"""Logs that were copied and emptied, packed or reached by a link; on a real directory."""

import bz2
import gzip
import lzma
import os
import shutil
from pathlib import Path

import pytest
import zstandard
from tests.support.manual_clock import SECOND, MovedClock

from mudra.agent.counting.event import LogPosition
from mudra.agent.sources.logs.log_file import LogFile
from mudra.agent.sources.logs.log_source import open_source
from mudra.agent.sources.logs.rotated_files import position_in

CLOCK = MovedClock()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "access.json"
    path.touch()
    return path


def _follow(path: Path, place: LogPosition | None = None, *, from_start: bool = True) -> LogFile:
    return LogFile(path, place, lambda _: None, CLOCK.monotonic, from_start=from_start)


def _read(file: LogFile) -> tuple[list[bytes], LogPosition]:
    """All lines that are there now, with the seconds that a rotated file takes, and the place."""
    lines: list[bytes] = []
    while True:
        found = file.read()
        assert found is not None
        lines += found.lines
        if found.at_end:
            return lines, found.position
        if not found.lines:
            CLOCK.pass_time(SECOND)


def _add(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def _emptied(log: Path, text: str) -> None:
    """Empty a file in place and write more than was in it, before anyone looks."""
    with log.open("r+") as file:
        file.truncate(0)
        file.write(text)


def test_a_file_emptied_and_grown_beyond_the_place_within_one_look_is_read_from_its_start(
    log: Path,
) -> None:
    file = _follow(log)
    _add(log, "1\n2\n")
    _read(file)
    _add(log, "3\n")
    shutil.copyfile(log, log.with_name("access.json.1"))

    _emptied(log, "".join(f"new {number}\n" for number in range(300)))

    assert _read(file)[0] == [b"3", *(b"new %d" % number for number in range(300))]
    assert file.gaps == 0


@pytest.mark.parametrize("copied", [True, False])
@pytest.mark.parametrize("restarted", [True, False])
def test_an_emptied_file_without_the_unread_part_is_a_gap_that_is_said(
    log: Path, *, copied: bool, restarted: bool
) -> None:
    warned: list[str] = []
    file = LogFile(log, None, warned.append, CLOCK.monotonic, from_start=True)
    _add(log, "1\n2\n")
    _, place = _read(file)
    if copied:  # whole, as far as it was read: nothing is missing
        shutil.copyfile(log, log.with_name("access.json.1"))
    _emptied(log, "3 is longer than all before\n")
    if restarted:
        file = LogFile(log, place, warned.append, CLOCK.monotonic, from_start=True)

    assert _read(file)[0] == [b"3 is longer than all before"]
    assert (file.gaps, len(warned)) == (int(not copied), int(not copied))


@pytest.mark.parametrize("hole", [5, 3 << 20])
def test_lines_behind_a_hole_of_zeros_are_read(log: Path, hole: int) -> None:
    """Copied and emptied under a writer that does not append."""
    writer = log.open("wb", buffering=0)
    file = _follow(log)
    writer.write(b"1\n" * (hole // 2))
    before = len(_read(file)[0])
    shutil.copyfile(log, log.with_name("access.json.1"))
    os.truncate(log, 0)
    assert _read(file)[0] == []
    writer.write(b"a\nb\n")
    found = _read(file)[0]
    writer.close()

    assert before == hole // 2
    assert [line.lstrip(b"\0") for line in found] == [b"a", b"b"]
    assert file.too_long == 0


PACKERS = {
    ".gz": gzip.compress, ".zst": zstandard.compress, ".xz": lzma.compress, ".bz2": bz2.compress,
}  # fmt: skip  # one a suffix


@pytest.mark.parametrize("suffix", PACKERS)
@pytest.mark.parametrize("lines", [3, 200_000])
def test_a_file_that_was_packed_while_the_agent_stood_still_is_read_from_the_place(
    log: Path, suffix: str, lines: int
) -> None:
    file = _follow(log)
    _add(log, "1\n2\n")
    _, place = _read(file)
    file.close()
    _add(log, "".join(f"old {number}\n" for number in range(lines)))
    packed = log.with_name(f"access.json.1{suffix}")
    packed.write_bytes(PACKERS[suffix](log.read_bytes()))
    os.utime(packed, ns=(1, log.stat().st_mtime_ns))
    log.unlink()
    log.write_text("new\n")

    found = _follow(log, place)

    assert _read(found)[0] == [*(b"old %d" % number for number in range(lines)), b"new"]
    assert found.gaps == 0


def test_a_packed_file_that_is_cut_short_is_a_gap(log: Path) -> None:
    file = _follow(log)
    _add(log, "".join(f"{number} {number**7}\n" for number in range(50_000)))
    first = file.read()
    assert first is not None
    place = position_in(open_source(log), 1_000)
    file.close()
    packed = log.with_name("access.json.1.gz")
    packed.write_bytes(gzip.compress(log.read_bytes())[:-5_000])
    log.unlink()
    log.write_text("new\n")
    found = _follow(log, place)

    lines: list[bytes] = []
    for _ in range(10):
        read = found.read()
        lines += read.lines if read else []

    assert lines[-1] == b"new"
    assert found.gaps == 1


def test_a_link_that_leads_to_another_file_is_followed_and_the_old_one_read_to_its_end(
    log: Path,
) -> None:
    first, second = log.with_name("2026-11-25.json"), log.with_name("2026-11-26.json")
    log.unlink()
    first.touch()
    log.symlink_to(first)
    file = _follow(log)
    _add(first, "1\n")
    assert _read(file)[0] == [b"1"]

    _add(first, "2\n")
    second.write_text("3\n")
    log.unlink()
    log.symlink_to(second)
    lines, place = _read(file)
    assert lines == [b"2", b"3"]

    file.close()
    _add(second, "4\n")
    third = log.with_name("2026-11-27.json")
    third.write_text("5\n")
    log.unlink()
    log.symlink_to(third)
    assert _read(_follow(log, place))[0] == [b"4", b"5"]


def test_the_last_line_of_a_rotated_file_needs_no_end(log: Path) -> None:
    file = _follow(log)
    _add(log, "1\n2")
    assert _read(file)[0] == [b"1"]

    log.rename(log.with_name("access.json.1"))
    _add(log, "3\n")

    assert _read(file)[0] == [b"2", b"3"]
