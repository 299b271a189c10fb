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
_ZLIB: Final = 8
_ZSTD_STEP: Final = 256
"""The smallest block that makes 128 KiB takes four bytes."""


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


class _Inflated:
    """Output of zlib, one stream after the other (RFC 1952 2.2: members are concatenated)."""

    def __init__(self, limit: int) -> None:
        self._output = _Bounded(limit)
        self._inflate: zlib._Decompress | None = None

    def _new(self, first: bytes) -> "zlib._Decompress":
        raise NotImplementedError

    def take(self, piece: bytes) -> None:
        """Unpack `piece` in steps of 64 KiB."""
        while piece:
            if self._inflate is None or self._inflate.eof:
                self._inflate = self._new(piece)
            try:
                self._output.write(self._inflate.decompress(piece, _PIECE))
            except zlib.error:
                raise BadlyPacked from None
            piece = self._inflate.unconsumed_tail or self._inflate.unused_data

    def whole(self) -> bytes:
        """Return the output if the last stream's end and checksum were there."""
        if self._inflate is None:
            raise BadlyPacked
        while not self._inflate.eof:
            held_back = self._inflate.decompress(b"", _PIECE)
            if not held_back:
                raise BadlyPacked
            self._output.write(held_back)
        return self._output.getvalue()


class Gzip(_Inflated):
    """RFC 1952, one member or several."""

    def _new(self, first: bytes) -> "zlib._Decompress":
        del first
        return zlib.decompressobj(_GZIP_ONLY)


class Deflate(_Inflated):
    """RFC 1950 as RFC 9110 8.4.1.2 says, or RFC 1951 without its frame, as many programs send."""

    def _new(self, first: bytes) -> "zlib._Decompress":
        if self._inflate is not None:
            raise BadlyPacked  # it has no members
        # Its first byte alone says it: 8 in the lower half is the method of RFC 1950, which no
        # stream of RFC 1951 that a compressor makes begins with.
        return zlib.decompressobj(zlib.MAX_WBITS if first[0] & 0xF == _ZLIB else -zlib.MAX_WBITS)


class Zstd:
    """RFC 8878, one frame or several."""

    def __init__(self, limit: int) -> None:
        self._output = _Bounded(limit)
        # Window and output together stay below twice the limit.
        self._unpack = zstandard.ZstdDecompressor(max_window_size=max(limit, _SMALLEST_WINDOW))
        self._frame: zstandard.ZstdDecompressionObj | None = None

    def take(self, piece: bytes) -> None:
        """Unpack `piece` in steps from which at most 64 blocks of 128 KiB come."""
        for first in range(0, len(piece), _ZSTD_STEP):
            step = piece[first : first + _ZSTD_STEP]
            while step:
                if self._frame is None or self._frame.eof:
                    self._frame = self._unpack.decompressobj()
                try:
                    self._output.write(self._frame.decompress(step))
                except zstandard.ZstdError:
                    raise BadlyPacked from None
                step = self._frame.unused_data if self._frame.eof else b""

    def whole(self) -> bytes:
        """Return the output if the last frame's end was there."""
        if self._frame is None or not self._frame.eof:
            raise BadlyPacked
        return self._output.getvalue()


UNPACKERS: Final[dict[str, type[Gzip] | type[Deflate] | type[Zstd]]] = {
    "gzip": Gzip,
    "deflate": Deflate,
    "zstd": Zstd,
}


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
