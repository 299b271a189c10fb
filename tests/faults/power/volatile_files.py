"""Files as a disk without power left them: what was not synced is lost, or a part of it.

Content is written through by fsync alone. Entries of directories (create, rename, delete) are
final once the directory, or the file that was created, is synced. When the power goes, each
4 KiB page and each entry that is not final survives by chance: disks write in any order.
"""

import contextlib
import os
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

PAGE = 4096


@dataclass
class Pages:
    """The unsynced content of one file over the bytes in `path`."""

    path: Path
    size: int
    changed: dict[int, bytes] = field(default_factory=dict)
    fd: int = -1
    opens: int = 0

    def open(self) -> None:
        """Keep the file at hand: its name may go while it is in use."""
        if self.fd < 0:
            self.fd = os.open(self.path, os.O_RDWR)
        self.opens += 1

    def close(self) -> None:
        """End one use."""
        self.opens -= 1
        if not self.opens and self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    @contextlib.contextmanager
    def _used(self):
        self.open()
        try:
            yield self.fd
        finally:
            self.close()

    def read(self, offset: int, count: int) -> bytes:
        """Read what programs see."""
        count = max(0, min(count, self.size - offset))
        if not count:
            return b""
        with self._used() as fd:
            found = bytearray(os.pread(fd, count, offset).ljust(count, b"\0"))
        for number in range(offset // PAGE, (offset + count - 1) // PAGE + 1):
            page = self.changed.get(number)
            if page is not None:
                start = max(number * PAGE, offset)
                end = min((number + 1) * PAGE, offset + count)
                found[start - offset : end - offset] = page[
                    start - number * PAGE : end - number * PAGE
                ]
        return bytes(found)

    def write(self, offset: int, data: bytes) -> None:
        """Write to memory only."""
        place = 0
        while place < len(data):
            number, within = divmod(offset + place, PAGE)
            part = data[place : place + PAGE - within]
            if len(part) == PAGE:
                self.changed[number] = part
            else:
                before = bytearray(self._page(number))
                before[within : within + len(part)] = part
                self.changed[number] = bytes(before)
            place += len(part)
        self.size = max(self.size, offset + len(data))

    def _page(self, number: int) -> bytes:
        return self.changed.get(number) or self.read(number * PAGE, PAGE).ljust(PAGE, b"\0")

    def resize(self, size: int) -> None:
        """Cut or extend in memory only."""
        if size < self.size:
            last, within = divmod(size, PAGE)
            if within:
                self.changed[last] = self._page(last)[:within].ljust(PAGE, b"\0")
            first_gone = last + bool(within)
            known = max(self.size, self._bytes_below()) // PAGE + 1
            for number in [n for n in self.changed if n >= first_gone]:
                del self.changed[number]
            # Bytes below must not come back when the file grows again.
            for number in range(first_gone, min(known, first_gone + 65536)):
                self.changed[number] = bytes(PAGE)
        self.size = size

    def _bytes_below(self) -> int:
        with self._used() as fd:
            return os.fstat(fd).st_size

    def sync(self) -> None:
        """Make all of it final."""
        if self.changed or self.size != self._bytes_below():
            with self._used() as fd:
                for number, page in self.changed.items():
                    if number * PAGE < self.size:
                        os.pwrite(fd, page, number * PAGE)
                os.ftruncate(fd, self.size)
            self.changed.clear()

    def lose(self, survives: Callable[[], bool]) -> None:
        """Drop the unsynced pages but for those that chance kept."""
        kept = {n: page for n, page in self.changed.items() if n * PAGE < self.size and survives()}
        self.changed.clear()
        if kept:
            with self._used() as fd:
                for number, page in kept.items():
                    os.pwrite(fd, page[: self.size - number * PAGE], number * PAGE)


@dataclass
class _Entry:
    """A change of a directory that is not final yet."""

    folders: frozenset[int]
    file: int
    undo: Callable[[], None]


class VolatileFiles:
    """The unsynced state over a directory of real files."""

    def __init__(self, saved: Path) -> None:
        self.pages: dict[int, Pages] = {}
        self._entries: list[_Entry] = []
        self._saved = saved
        self._numbers = iter(range(1 << 60))

    def of(self, inode: int, path: Path) -> Pages:
        """Return the content of a file."""
        known = self.pages.get(inode)
        if known is None:
            known = self.pages[inode] = Pages(path, path.stat().st_size)
        return known

    def created(self, folder: int, inode: int, path: Path) -> None:
        """Record a new file or directory."""

        def undo() -> None:
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)

        self._entries.append(_Entry(frozenset({folder}), inode, undo))

    def unlink(self, folder: int, path: Path) -> None:
        """Delete a file, for now."""
        saved = self._keep(path)
        path.unlink()
        self._entries.append(_Entry(frozenset({folder}), 0, lambda: _restore(saved, path)))

    def rename(self, folders: frozenset[int], source: Path, target: Path) -> None:
        """Rename, for now; what had the name is kept."""
        saved = self._keep(target) if target.is_file() else None
        source.rename(target)

        def undo() -> None:
            with contextlib.suppress(FileNotFoundError):
                target.rename(source)
            if saved is not None:
                _restore(saved, target)

        self._entries.append(_Entry(folders, 0, undo))

    def sync_folder(self, folder: int) -> None:
        """Make the entries of a directory final."""
        self._entries = [one for one in self._entries if folder not in one.folders]

    def sync_file(self, inode: int) -> None:
        """Make a file's content final, and that it exists."""
        if inode in self.pages:
            self.pages[inode].sync()
        self._entries = [one for one in self._entries if one.file != inode]

    def lose(self, dice: random.Random, share: float) -> None:
        """The power goes: of what is not final, about `share` survives."""
        for pages in self.pages.values():
            if pages.changed and (pages.fd >= 0 or pages.path.exists()):
                pages.lose(lambda: dice.random() < share)
        for entry in reversed(self._entries):
            if dice.random() >= share:
                entry.undo()
        self._entries.clear()

    def _keep(self, path: Path) -> Path:
        saved = self._saved / str(next(self._numbers))
        saved.hardlink_to(path)
        return saved


def _restore(saved: Path, path: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        saved.rename(path)
