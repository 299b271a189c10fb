"""A log file as it is read: plain, or packed by rotation (gzip, zstd, xz, bzip2).

Its first bytes say which, not its name. Places are those of the plain text.
"""

import bz2
import errno
import gzip
import io
import lzma
import os
import stat
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Protocol, cast

import zstandard

_PIECE: Final = 1 << 20
_KEPT: Final = 4 << 20
"""Of a packed file, so that what is left of a line is not unpacked again."""
_HEAD: Final = 4096
"""Kept of a packed file's begin, which each position names."""
_MAGIC: Final = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\xfd7zXZ\x00": "xz",
    b"BZh": "bzip2",
}
_LONGEST_MAGIC: Final = 6
_MAX_WINDOW: Final = 128 << 20


class DamagedLog(OSError):
    """A packed file cannot be unpacked to its end."""


class LogSource(Protocol):
    """One open file."""

    is_packed: bool

    def read_at(self, offset: int, length: int) -> bytes:
        """Return so many bytes from this place, fewer at the end. Raises OSError."""
        ...

    def status(self) -> os.stat_result:
        """Return the state of the file itself, packed as it may be."""
        ...

    def close(self) -> None:
        """Close it."""
        ...


def open_source(path: Path) -> LogSource:
    """Open a file. Raises OSError, also for what has no places: a folder, a pipe, a device."""
    if not stat.S_ISREG(path.stat().st_mode):  # looked at first: opening a pipe wakes its writer
        raise OSError(errno.EINVAL, "it is no file, but a folder, a pipe or a device")
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        kind = _kind(os.pread(descriptor, _LONGEST_MAGIC, 0))
        return PackedFile(descriptor, kind) if kind else PlainFile(descriptor)
    except OSError:
        os.close(descriptor)
        raise


def pieces(path: Path) -> Iterator[bytes]:
    """Return the plain text of a file, which may be a pipe, in pieces. Raises OSError."""
    with path.open("rb") as raw:
        stream = _unpacked(raw, _kind(raw.peek(_LONGEST_MAGIC)))
        while piece := _next_piece(stream):
            yield piece


class PlainFile:
    """A file that is read as it is."""

    is_packed = False

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def read_at(self, offset: int, length: int) -> bytes:
        """Return so many bytes from this place, fewer at the end."""
        return os.pread(self._descriptor, length, offset)

    def status(self) -> os.stat_result:
        """Return the state of the file."""
        return os.fstat(self._descriptor)

    def close(self) -> None:
        """Close it."""
        os.close(self._descriptor)


class PackedFile:
    """A file that is unpacked while it is read; going back a little costs nothing."""

    is_packed = True

    def __init__(self, descriptor: int, kind: str) -> None:
        self._descriptor, self._kind = descriptor, kind
        self._kept, self._begin, self._head = b"", 0, b""
        self._stream = self._opened()

    def read_at(self, offset: int, length: int) -> bytes:
        """Return so many bytes from this place, fewer at the end. Raises DamagedLog."""
        if offset < self._begin and offset + length <= len(self._head):
            return self._head[offset : offset + length]
        if offset < self._begin:
            self._stream, self._kept, self._begin = self._opened(), b"", 0
        while self._begin + len(self._kept) < offset + length:
            piece = _next_piece(self._stream)
            if not piece:
                break
            if self._begin == 0 and len(self._head) < _HEAD:
                self._head += piece[: _HEAD - len(self._head)]
            self._kept += piece
            if len(self._kept) > _KEPT + length:
                cut = len(self._kept) - _KEPT - length
                self._kept, self._begin = self._kept[cut:], self._begin + cut
        return self._kept[max(0, offset - self._begin) :][:length] if self._reaches(offset) else b""

    def _reaches(self, offset: int) -> bool:
        return offset <= self._begin + len(self._kept)

    def status(self) -> os.stat_result:
        """Return the state of the packed file."""
        return os.fstat(self._descriptor)

    def close(self) -> None:
        """Close it."""
        os.close(self._descriptor)

    def _opened(self) -> io.BufferedIOBase:
        raw = os.fdopen(os.dup(self._descriptor), "rb")
        raw.seek(0)
        return _unpacked(raw, self._kind)


def _kind(first: bytes) -> str:
    return next((kind for magic, kind in _MAGIC.items() if first.startswith(magic)), "")


def _unpacked(raw: io.BufferedReader, kind: str) -> io.BufferedIOBase:
    if kind == "gzip":
        return gzip.GzipFile(fileobj=raw)
    if kind == "xz":
        return lzma.LZMAFile(raw)
    if kind == "bzip2":
        return bz2.BZ2File(raw)
    if kind == "zstd":
        unpack = zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW)
        return cast("io.BufferedIOBase", unpack.stream_reader(raw, read_across_frames=True))
    return raw


def _next_piece(stream: io.BufferedIOBase) -> bytes:
    try:
        return stream.read(_PIECE)
    except (EOFError, OSError, zlib.error, lzma.LZMAError, zstandard.ZstdError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # of the machine, not of what is packed
        raise DamagedLog(0, f"it cannot be unpacked to its end: {error}") from None
