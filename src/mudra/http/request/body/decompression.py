"""Bodies unpacked as they arrive, and never beyond a limit.

A thousand zeros pack into one byte, so the output is counted piece by piece
while it is made, not after.
"""

import io
import zlib
from typing import Final, Protocol

import zstandard

_PIECE: Final = 64 * 1024
_GZIP_ONLY: Final = 16 + zlib.MAX_WBITS
_SMALLEST_WINDOW: Final = 1024


class UnpackedTooLarge(Exception):
    """The output would be larger than the limit."""


class BadlyPacked(Exception):
    """The bytes are not of the encoding that the request names."""


class Unpacker(Protocol):
    """Takes a body in pieces and returns it as one."""

    def take(self, piece: bytes) -> None:
        """Unpack `piece`.

        Raises:
            UnpackedTooLarge: the output went over the limit.
            BadlyPacked: `piece` does not continue what came before.
        """

    def whole(self) -> bytes:
        """Return the output after the last piece.

        Raises:
            BadlyPacked: the end is missing.
        """


class Identity:
    """No encoding: counts and collects."""

    def __init__(self, limit: int) -> None:
        self._output = _Bounded(limit)

    def take(self, piece: bytes) -> None:
        """Add `piece`."""
        self._output.write(piece)

    def whole(self) -> bytes:
        """Return all pieces as one."""
        return self._output.getvalue()


class Gzip:
    """RFC 1952, one member."""

    def __init__(self, limit: int) -> None:
        self._output = _Bounded(limit)
        self._inflate = zlib.decompressobj(_GZIP_ONLY)

    def take(self, piece: bytes) -> None:
        """Unpack `piece` in steps of 64 KiB."""
        while piece:
            if self._inflate.eof:
                raise BadlyPacked
            try:
                self._output.write(self._inflate.decompress(piece, _PIECE))
            except zlib.error:
                raise BadlyPacked from None
            piece = self._inflate.unconsumed_tail or self._inflate.unused_data

    def whole(self) -> bytes:
        """Return the output if the member's end and checksum were there."""
        while not self._inflate.eof:
            held_back = self._inflate.decompress(b"", _PIECE)
            if not held_back:
                raise BadlyPacked
            self._output.write(held_back)
        return self._output.getvalue()


class Zstd:
    """RFC 8878.

    A missing end is not detected here: the rest is then no complete JSON text.
    """

    def __init__(self, limit: int) -> None:
        self._output = _Bounded(limit)
        # Window and output together stay below twice the limit.
        unpack = zstandard.ZstdDecompressor(max_window_size=max(limit, _SMALLEST_WINDOW))
        self._writer = unpack.stream_writer(self._output, write_size=_PIECE, closefd=False)

    def take(self, piece: bytes) -> None:
        """Unpack `piece`; the writer hands on at most 64 KiB at once."""
        try:
            self._writer.write(piece)
        except zstandard.ZstdError:
            raise BadlyPacked from None

    def whole(self) -> bytes:
        """Return the output."""
        return self._output.getvalue()


UNPACKERS: Final[dict[str, type[Gzip] | type[Zstd]]] = {"gzip": Gzip, "zstd": Zstd}


class _Bounded(io.BytesIO):
    """Takes up to `limit` bytes. BytesIO gives its bytes without copying them."""

    def __init__(self, limit: int) -> None:
        super().__init__()
        self._room = limit

    def write(self, piece: bytes) -> int:  # type: ignore[override]  # only bytes come here
        if len(piece) > self._room:
            raise UnpackedTooLarge
        self._room -= len(piece)
        return super().write(piece)
