"""A record that can be found again in a damaged file without the file's own structure.

Magic, checksum, length, header, body. A record of up to a page (16 KiB packed,
some 200 FIPs) lies in one piece on the disk; a longer one is found by the
file's structure only.
"""

import struct
import zlib
from collections.abc import Iterator
from typing import Final

import msgspec

_MAGIC: Final = b"\x00mudra-record\x01"
_HEAD: Final = struct.Struct(">II")
_MAX_LENGTH: Final = 64 << 20


class Header(msgspec.Struct, array_like=True, frozen=True):
    """What a record is, beside its body."""

    window: int
    tag: str
    txn_id: str
    due: int


class _Record(msgspec.Struct, array_like=True, frozen=True):
    header: Header
    body: bytes


_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(_Record)


def framed(header: Header, body: bytes) -> bytes:
    """The record as it goes to the disk."""
    text = _ENCODER.encode(_Record(header, body))
    return _MAGIC + _HEAD.pack(zlib.crc32(text), len(text)) + text


def unframed(record: bytes) -> tuple[Header, bytes] | None:
    """Header and body; None when the record is not whole."""
    start = len(_MAGIC) + _HEAD.size
    if not record.startswith(_MAGIC) or len(record) < start:
        return None
    checksum, length = _HEAD.unpack_from(record, len(_MAGIC))
    text = record[start : start + length]
    if length > _MAX_LENGTH or len(text) != length or zlib.crc32(text) != checksum:
        return None
    try:
        found = _DECODER.decode(text)
    except msgspec.DecodeError:
        return None
    return found.header, found.body


def frames_in(data: bytes) -> Iterator[tuple[Header, bytes]]:
    """Every whole record in these bytes, wherever it lies, with its frame."""
    place = data.find(_MAGIC)
    while place >= 0:
        start = place + len(_MAGIC)
        length = int.from_bytes(data[start + 4 : start + 8])
        record = data[place : start + _HEAD.size + min(length, _MAX_LENGTH)]
        found = unframed(record)
        if found is not None:
            yield found[0], record
        place = data.find(_MAGIC, start)
