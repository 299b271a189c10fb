"""Following a log through rotation, copytruncate and restart; on a real directory."""

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
from mudra.agent.sources.log_file import MAX_WAIT, QUIET, LogFile
from mudra.agent.sources.log_source import open_source
from mudra.agent.sources.rotated_files import position_in

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


def test_lines_come_once_and_a_half_line_waits_for_its_end(log: Path) -> None:
    file = _follow(log)
    _add(log, "one\ntw")
    assert _read(file)[0] == [b"one"]

    _add(log, "o\n")

    assert _read(file)[0] == [b"two"]
    assert _read(file)[0] == []


def test_a_new_file_is_read_from_its_end_unless_configured_otherwise(log: Path) -> None:
    _add(log, "old\n")
    file = _follow(log, from_start=False)
    assert _read(file)[0] == []

    _add(log, "new\n")

    assert _read(file)[0] == [b"new"]


def test_a_rotation_by_name_loses_no_line_of_either_file(log: Path) -> None:
    file = _follow(log)
    _add(log, "1\n")
    assert _read(file)[0] == [b"1"]

    _add(log, "2\n")
    log.rename(log.with_name("access.json.1"))
    _add(log.with_name("access.json.1"), "3\n")  # the server still holds the old file
    _add(log, "4\n")

    assert _read(file)[0] == [b"2", b"3", b"4"]


def test_two_rotations_between_two_looks_are_read_in_order(log: Path) -> None:
    file = _follow(log)
    _add(log, "1\n")
    _read(file)

    for number, text in enumerate(("2\n", "3\n")):
        _add(log, text)
        for older in (2, 1):
            former = log.with_name(f"access.json.{older}")
            if former.exists():
                former.rename(log.with_name(f"access.json.{older + 1}"))
        log.rename(log.with_name("access.json.1"))
        os.utime(log.with_name("access.json.1"), ns=(number, 10**18 + number))
        log.touch()
    _add(log, "4\n")

    assert _read(file)[0] == [b"2", b"3", b"4"]


def test_a_file_emptied_in_place_is_read_from_its_start(log: Path) -> None:
    file = _follow(log)
    _add(log, "one\ntwo\n")
    _read(file)

    log.write_text("x\n")

    assert _read(file)[0] == [b"x"]


def test_a_restart_goes_on_where_the_last_run_stopped(log: Path) -> None:
    file = _follow(log)
    _add(log, "1\n2\n")
    _, place = _read(file)
    file.close()
    _add(log, "3\n")

    assert _read(_follow(log, place))[0] == [b"3"]


def test_a_restart_after_rotations_reads_the_rotated_files_first(log: Path) -> None:
    file = _follow(log)
    _add(log, "1\n")
    _, place = _read(file)
    file.close()
    _add(log, "2\n")
    log.rename(log.with_name("access.json.2"))
    os.utime(log.with_name("access.json.2"), ns=(1, 10**18))
    log.with_name("access.json.1").write_text("3\n")
    os.utime(log.with_name("access.json.1"), ns=(1, 10**18 + 5))
    log.write_text("4\n")

    assert _read(_follow(log, place))[0] == [b"2", b"3", b"4"]


def test_another_file_with_the_same_inode_is_not_taken_for_the_old_one(log: Path) -> None:
    file = _follow(log)
    _add(log, "first file\n")
    _, place = _read(file)
    file.close()
    log.write_text("other file, longer than the first\n")

    assert _read(_follow(log, place))[0] == [b"other file, longer than the first"]


def test_a_missing_file_is_said_and_read_once_it_is_there(tmp_path: Path) -> None:
    warnings: list[str] = []
    path = tmp_path / "later.json"
    file = LogFile(path, None, warnings.append, CLOCK.monotonic, from_start=True)

    assert file.read() is None
    assert file.read() is None
    path.write_text("1\n")

    assert _read(file)[0] == [b"1"]
    assert len(warnings) == 1


def test_a_line_without_end_costs_no_memory_and_ends_with_its_line(log: Path) -> None:
    file = _follow(log)
    _add(log, "x" * (3 << 20) + "\nnext\n")

    assert _read(file)[0] == [b"next"]


def test_a_rotated_file_is_left_when_nothing_has_come_for_some_seconds(log: Path) -> None:
    """nginx has its workers open the new file one after another, and each empties its buffer."""
    file = _follow(log)
    _add(log, "1\n")
    _read(file)
    rotated = log.with_name("access.json.1")
    log.rename(rotated)
    _add(log, "4\n")

    got: list[bytes] = []
    for text in ("2\n", "3\n"):
        found = file.read()
        assert found is not None
        assert not found.at_end
        got += found.lines
        CLOCK.pass_time(QUIET - SECOND)
        _add(rotated, text)

    assert got + _read(file)[0] == [b"2", b"3", b"4"]


def test_a_rotated_file_that_is_written_for_ever_is_left_too(log: Path) -> None:
    file = _follow(log)
    _add(log, "1\n")
    _read(file)
    rotated = log.with_name("access.json.1")
    log.rename(rotated)
    _add(log, "new\n")

    got: list[bytes] = []
    for _ in range(2 + MAX_WAIT // SECOND):
        _add(rotated, "old\n")
        found = file.read()
        assert found is not None
        got += found.lines
        CLOCK.pass_time(SECOND)

    assert got[-1] == b"new"
    assert set(got[:-1]) == {b"old"}


@pytest.mark.parametrize("names", [("access.json-20261124", "access.json-20261125")])
def test_files_rotated_by_date_are_read_after_a_restart(log: Path, names: tuple[str, str]) -> None:
    file = _follow(log)
    _add(log, "1\n")
    _, place = _read(file)
    file.close()
    _add(log, "2\n")
    for number, name in enumerate(names):
        log.rename(log.with_name(name))
        os.utime(log.with_name(name), ns=(1, place.modified + number))
        log.write_text(f"{number + 3}\n")
    log.with_name("access.json-inner").write_text("another log\n")

    assert _read(_follow(log, place))[0] == [b"2", b"3", b"4"]


def test_a_log_that_cannot_be_read_for_a_while_goes_on_where_it_stopped(log: Path) -> None:
    file = _follow(log)
    _add(log, "1\n")
    assert _read(file)[0] == [b"1"]
    hidden = log.with_name("elsewhere")
    log.rename(hidden)
    log.symlink_to(log)  # a loop, which not even root can follow

    assert file.read() is None
    assert file.read() is None
    log.unlink()
    hidden.rename(log)
    _add(log, "2\n")

    assert _read(file)[0] == [b"2"]


def test_a_new_file_that_cannot_be_read_at_once_is_still_read_from_its_end(log: Path) -> None:
    _add(log, "old\n")
    hidden = log.with_name("elsewhere")
    log.rename(hidden)
    log.symlink_to(log)
    file = _follow(log, from_start=False)
    assert file.read() is None
    log.unlink()
    hidden.rename(log)
    assert _read(file)[0] == []

    _add(log, "new\n")

    assert _read(file)[0] == [b"new"]


@pytest.mark.parametrize("after", ["new\n", "new, and longer than all before\n"])
def test_a_copy_that_was_made_while_the_agent_was_down_is_read_from_the_position(
    log: Path, after: str
) -> None:
    older = log.with_name("access.json.2")
    older.write_text("long read\n")
    os.utime(older, ns=(1, 10**18))
    file = _follow(log)
    _add(log, "1\n2\n")
    _, place = _read(file)
    file.close()
    _add(log, "3\n")
    shutil.copyfile(log, log.with_name("access.json.1"))  # copytruncate
    log.write_text(after)

    assert _read(_follow(log, place))[0] == [b"3", after.rstrip().encode()]


def test_lines_that_were_copied_away_before_they_were_read_are_not_lost(log: Path) -> None:
    file = _follow(log)
    _add(log, "1\n2\n")
    _read(file)
    _add(log, "3\n")
    shutil.copyfile(log, log.with_name("access.json.1"))
    log.write_text("4\n")

    assert _read(file)[0] == [b"3", b"4"]


def test_when_the_file_is_gone_older_files_are_not_read_again(log: Path) -> None:
    older = log.with_name("access.json.2")
    older.write_text("read long ago\n")
    os.utime(older, ns=(1, 10**18))
    file = _follow(log)
    _add(log, "1\n")
    _, place = _read(file)
    file.close()
    log.rename(log.with_name("access.json.3.gz"))
    newer = log.with_name("access.json.1")
    newer.write_text("2\n")
    os.utime(newer, ns=(1, place.modified + 1))
    log.write_text("3\n")

    assert _read(_follow(log, place))[0] == [b"2", b"3"]


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
    """F06: copied and emptied under a writer that does not append."""
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
