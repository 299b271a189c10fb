"""A followed log gives each line once and in order, however it is rotated; what is lost is said."""

import contextlib
import gzip
import os
import shutil
import tempfile
from pathlib import Path
from typing import BinaryIO

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.support.depth import examples
from tests.support.manual_clock import SECOND, MovedClock

from mudra.agent.counting.event import LogPosition
from mudra.agent.sources.logs.log_file import Lines, LogFile

pytestmark = pytest.mark.deeper

ACTS = ["write", "write_much", "half", "reopen", "read", "look", "rest", "restart", "pack"]
RENAMED, COPIED = ["rename", "rename_alone"], ["copy", "copy_under_offset"]
HISTORIES = st.one_of(
    st.lists(st.sampled_from([*ACTS, *rotations]), max_size=25)
    for rotations in ([*RENAMED, *COPIED], [*COPIED, "copy_empty"])
)
"""Copies and hard links next to the log, empty logs renamed from before a program that goes on to
write to the one before, and times in whole seconds are in examples alone: with several of them,
files do not always say which of two was the log.
"""
LOSSES = ["empty", "lose_oldest", "lose_newest"]


class Rotated:
    """A program that writes a log, what rotates it, and an agent that reads, rests or starts again.

    The model is the list of lines in the order in which they were written.
    """

    def __init__(self, folder: Path, *, dated: bool, coarse: bool) -> None:
        self.log, self._clock, self._stamp = folder / "access.json", MovedClock(), 10**18
        self._coarse, self._changes = coarse, 0
        self._dated, self._rotations = dated, 0
        self._writer, self._rest = self._opened(), b""
        self.written: list[bytes] = []
        self.got: list[bytes] = []
        self.gaps = 0
        self.noticed: list[bytes] = []
        self.file = self._follow(None)
        self.read()

    # The program

    def write(self, number: int = 2) -> None:
        lines = b""
        for _ in range(number):
            at = len(self.written)
            self.written.append(b"line %06d %s" % (at, b"x" * (at % 7 * 40)))
            lines += self.written[-1] + b"\n"
        self._write(self._rest + lines)
        self._rest = b""

    def write_much(self) -> None:
        self.write(12)

    def half(self) -> None:
        """A line of which the disk has the first half."""
        self._end_half()
        at = len(self.written)
        self.written.append(b"line %06d in two halves" % at)
        self._write(self.written[-1][:9])
        self._rest = self.written[-1][9:] + b"\n"

    def reopen(self) -> None:
        self._end_half()
        self._writer.close()
        self._writer = self._opened()

    # Rotation

    def rename(self) -> None:
        """As with `create`: the program writes to the renamed file until it opens the new one."""
        self.rename_alone()
        if not self.log.exists():
            self.log.touch()
            self._stamped(self.log)

    def rename_alone(self) -> None:
        if self.log.exists() and self.log.stat().st_size and self._is_open():
            self.log.rename(self._place())

    def rename_empty(self) -> None:
        """As with `ifempty`, which is the default."""
        if self.log.exists() and not self.log.stat().st_size:
            self.log.rename(self._place())
            self.log.touch()
            self._stamped(self.log)

    def copy(self) -> None:
        self._copy(is_appending=True)

    def copy_empty(self) -> None:
        if self.log.exists() and not self.log.stat().st_size:
            copy = self._place()
            copy.touch()
            self._stamped(copy)

    def copy_under_offset(self) -> None:
        """The writer does not append: it goes on at its place, behind a hole of zeros."""
        self._copy(is_appending=False)

    def pack(self) -> None:
        """Packs what no one writes to any more, as `delaycompress` does."""
        for plain in self._older():
            if plain.suffix != ".gz" and not self._is_written(plain):
                packed = plain.with_name(f"{plain.name}.gz")
                packed.write_bytes(gzip.compress(plain.read_bytes()))
                os.utime(packed, ns=(0, plain.stat().st_mtime_ns))
                plain.unlink()

    # Copies

    def back_up(self) -> None:
        """A copy that an engineer makes next to the log."""
        if self.log.exists():
            self._copy_next_to_it().unlink(missing_ok=True)
            shutil.copyfile(self.log, self._copy_next_to_it())
            self._stamped(self._copy_next_to_it())

    def link(self) -> None:
        if self.log.exists():
            self._copy_next_to_it().unlink(missing_ok=True)
            os.link(self.log, self._copy_next_to_it())

    def replace(self) -> None:
        """A copy takes the place of the log, as `sed -i` and rsync have it."""
        if self._is_open():
            self._end_half()
            self._writer.close()
            self._copied_over(self.log)
            self._writer = self.log.open("ab", buffering=0)

    def move(self) -> None:
        """All files are on another disk, while the agent is down."""
        self._end_half()
        self._end_run()
        written = next((one for one in self._files() if self._is_written(one)), self.log)
        self._writer.close()
        self._copied_over(*self._files())
        self._writer = written.open("ab", buffering=0)
        self.file = self._follow(self._kept)

    def _copied_over(self, *paths: Path) -> None:
        for path in paths:
            shutil.copy2(path, path.with_name(f"copy-{path.name}"))
        for path in paths:
            path.with_name(f"copy-{path.name}").rename(path)

    # Losses

    def empty(self) -> None:
        if self.log.exists():
            self._end_half()
            self._lose(self.log)
            os.truncate(self.log, 0)
            self._stamped(self.log)

    def lose_oldest(self) -> None:
        for oldest in self._older()[:1]:
            self._lose(oldest)
            oldest.unlink()

    def lose_newest(self) -> None:
        for newest in self._older()[-1:]:
            self._lose(newest)
            newest.unlink()

    def _lose(self, path: Path) -> None:
        """Note the lines whose loss the agent can know: it has read the file up to them."""
        text = path.read_bytes()
        lines = (gzip.decompress(text) if path.suffix == ".gz" else text).strip(b"\0").split(b"\n")
        if self.got and self.got[-1] in lines:
            # The last piece is half a line, which comes as one that is unreadable.
            self.noticed += lines[lines.index(self.got[-1]) + 1 : -1]

    # The agent

    def read(self) -> None:
        for _ in range(200):
            found = self.look()
            if found is None or found.at_end:
                return
            if not found.lines:
                self._clock.pass_time(SECOND)

    def look(self) -> Lines | None:
        found = self.file.read()
        if found is not None:
            self.got += [line.strip(b"\0") for line in found.lines]
            self._kept = found.position
        return found

    def rest(self) -> None:
        self._clock.pass_time(20 * SECOND)

    def restart(self) -> None:
        self._end_run()
        self.file = self._follow(self._kept)

    def end(self) -> None:
        """The program opens the log once more, and the agent reads all."""
        self.reopen()
        self.write()
        self.read()
        self._end_run()
        self._writer.close()

    def _end_run(self) -> None:
        self.gaps += self.file.gaps
        self.close()

    def close(self) -> None:
        self.file.close()

    def _copy(self, *, is_appending: bool) -> None:
        if not self.log.exists() or not self.log.stat().st_size:
            return
        self._end_half()
        copy = self._place()
        shutil.copyfile(self.log, copy)
        self._stamped(copy)
        os.truncate(self.log, 0)
        self._stamped(self.log)
        if self._is_open() and not is_appending:
            self._writer.close()
            self._writer = self.log.open("r+b", buffering=0)
            self._writer.seek(copy.stat().st_size)

    def _end_half(self) -> None:
        if self._rest:
            self._write(self._rest)
            self._rest = b""

    def _write(self, text: bytes) -> None:
        self._writer.write(text)
        os.utime(self._writer.fileno(), ns=(0, self._next_stamp()))

    def _opened(self) -> BinaryIO:
        is_new = not self.log.exists()
        writer = self.log.open("ab", buffering=0)
        if is_new:
            self._stamped(self.log)
        return writer

    def _status(self) -> os.stat_result:
        return os.fstat(self._writer.fileno())

    def _is_open(self) -> bool:
        """Return whether the program writes to the file that has the name of the log."""
        return self.log.exists() and self._is_written(self.log)

    def _is_written(self, path: Path) -> bool:
        return os.path.samestat(path.stat(), self._status())

    def _follow(self, position: LogPosition | None) -> LogFile:
        return LogFile(self.log, position, self._warn, self._clock.monotonic, from_start=True)

    def _warn(self, text: str) -> None:
        """The sentence is in the agent's log; that each is counted is seen in the end."""

    def _stamped(self, path: Path) -> None:
        os.utime(path, ns=(0, self._next_stamp()))

    def _next_stamp(self) -> int:
        """Each change has a time of its own, or three have one, as on a coarse file system."""
        self._changes += 1
        if not self._coarse or self._changes % 3 == 0:
            self._stamp += 10**9
        return self._stamp

    def _place(self) -> Path:
        """The name of the newest rotated file: a date, or 1 with the others moved on."""
        self._rotations += 1
        if self._dated:
            return self.log.with_name(f"access.json-{20261126 + self._rotations}")
        for older in self._older():
            number = int(older.name.split(".")[2])
            older.rename(older.with_name(older.name.replace(f".{number}", f".{number + 1}", 1)))
        return self.log.with_name("access.json.1")

    def _older(self) -> list[Path]:
        """Return the rotated files, the oldest first."""
        found = [one for one in self._files() if one not in (self.log, self._copy_next_to_it())]
        return sorted(found, key=lambda one: one.name.split(".gz")[0], reverse=not self._dated)

    def _files(self) -> list[Path]:
        return list(self.log.parent.iterdir())

    def _copy_next_to_it(self) -> Path:
        return self.log.with_name("access.json.bak")


def _played(acts: list[str], *, dated: bool, coarse: bool = False) -> Rotated:
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as closing:
        rotated = Rotated(Path(name), dated=dated, coarse=coarse)
        closing.callback(rotated.close)
        for act in acts:
            getattr(rotated, act)()
        rotated.end()
        return rotated


@settings(max_examples=examples(20), deadline=None)
@given(HISTORIES, st.booleans(), st.just(False))  # noqa: FBT003  # times of their own
@example(["write", "rename", "write", "read"], False, False)  # noqa: FBT003  # the renamed file is the newer one
@example(["write", "rename", "read", "rest", "read", "write"], False, False)  # noqa: FBT003  # opened late
@example(["half", "rename", "read"], False, False)  # noqa: FBT003  # nothing was read of the renamed file
@example(["write", "rename", "rename_empty", "read", "write"], False, False)  # noqa: FBT003  # never opened again
@example(["write", "rename", "copy_empty", "read", "write"], False, False)  # noqa: FBT003  # nor here
@example(["write", "back_up"], False, False)  # noqa: FBT003  # the copy is no file of before
@example(["write", "read", "replace", "write"], False, False)  # noqa: FBT003  # the same content, in another file
@example(["write", "read", "move", "write"], False, False)  # noqa: FBT003  # and after a start
@example(["write", "replace", "write", "rename"], False, False)  # noqa: FBT003  # and rotated since
@example(["write", "link", "replace"], False, False)  # noqa: FBT003  # the file of before is there
@example(["half", "reopen", "copy"], False, True)  # noqa: FBT003  # copied and emptied in one instant
def test_each_line_of_a_rotated_log_comes_once_and_in_order(
    acts: list[str],
    dated: bool,
    coarse: bool,
) -> None:
    rotated = _played(acts, dated=dated, coarse=coarse)

    assert rotated.got == rotated.written
    assert rotated.gaps == 0


@settings(max_examples=examples(13), deadline=None)
@given(st.lists(st.sampled_from([*ACTS, *RENAMED, *COPIED, *LOSSES]), max_size=25), st.booleans())
def test_no_line_comes_twice_and_a_loss_that_can_be_known_is_counted(
    acts: list[str], dated: bool
) -> None:
    rotated = _played(acts, dated=dated)

    order = {line: at for at, line in enumerate(rotated.written)}
    numbers = [order[line] for line in rotated.got if line in order]
    assert numbers == sorted(set(numbers))
    if not set(rotated.noticed) <= set(rotated.got):
        assert rotated.gaps
