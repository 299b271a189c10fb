"""Following a log through rotation, copytruncate and restart; on a real directory."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.support.manual_clock import SECOND, MovedClock

from mudra.agent.counting.event import LogPosition
from mudra.agent.sources.logs.log_file import LogFile

MAX_WAIT = 60_000
QUIET = 10_000

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
    older = log.with_name("access.json.3")
    older.write_text("read long ago\n")
    os.utime(older, ns=(1, 10**18))
    file = _follow(log)
    _add(log, "1\n")
    _, place = _read(file)
    file.close()
    log.rename(log.with_name("access.json.2.gz"))
    newer = log.with_name("access.json.1")
    newer.write_text("2\n")
    os.utime(newer, ns=(1, place.modified + 1))
    log.write_text("3\n")

    assert _read(_follow(log, place))[0] == [b"2", b"3"]


NO_FILES = {
    "folder": lambda path: path.mkdir(),
    "pipe": os.mkfifo,
    "device": lambda path: path.symlink_to("/dev/null"),
}


@pytest.mark.parametrize("kind", NO_FILES)
def test_what_is_no_file_is_said_once_and_costs_nothing_until_it_is_one(
    tmp_path: Path, kind: str
) -> None:
    path, said = tmp_path / "access.json", list[str]()
    file = LogFile(path, None, said.append, CLOCK.monotonic, from_start=True)
    NO_FILES[kind](path)
    file.read()
    open_files = len([*Path("/proc/self/fd").iterdir()])

    assert [file.read() for _ in range(20)] == [None] * 20

    assert len([*Path("/proc/self/fd").iterdir()]) == open_files
    reason = "it is no file, but a folder, a pipe or a device"
    assert said == [f"{path} cannot be read: {reason}; the agent tries again"]
    path.rename(tmp_path / "away")
    _add(path, "one\n")
    assert _read(file)[0] == [b"one"]


def test_a_folder_next_to_the_log_is_no_rotated_file_of_it(log: Path) -> None:
    file = _follow(log)
    _add(log, "one\n")
    _, place = _read(file)
    log.unlink()
    log.with_name("access.json.old").mkdir()  # where rotation moves it
    file = _follow(log, place)
    _add(log, "two\n")

    assert _read(file)[0] == [b"two"]


def test_a_rotated_file_of_which_nothing_was_read_is_found_packed_after_a_restart(
    log: Path,
) -> None:
    file = _follow(log)
    _add(log, "one\n")
    _read(file)
    log.rename(log.with_name("access.json.2"))
    _add(log, "two\n")
    log.rename(following := log.with_name("access.json.1"))
    log.touch()
    while (found := file.read()) is not None and found.position.offset:
        CLOCK.pass_time(SECOND)
    assert found is not None  # at the begin of what was rotated last, and stopped there
    subprocess.run(["gzip", following], check=True)

    assert _read(_follow(log, found.position))[0] == [b"two"]
