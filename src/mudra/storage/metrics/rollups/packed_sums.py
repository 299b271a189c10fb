"""Sums of all FIPs of one type in a window, as one value: a row of their own would cost more.

What `sums.py` says of a row holds here as well: times are coarse, and such sums add up exactly.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

import msgspec

from mudra.metrics.rollup.latency_distribution import Dense, dense
from mudra.metrics.rollup.rollup import Rollup
from mudra.storage.metrics.rollups.sums import Sums, added, bounded

ByFip = Mapping[str, Sums]


class _Stored(NamedTuple):
    """`Sums` with a size of any length: MessagePack has no integers beyond 2^64."""

    blocks: int
    counts: tuple[int, ...]
    statuses: tuple[int, ...]
    data_bytes: str
    longest: int
    times: Dense


_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(dict[str, _Stored]).decode


def sums_of(row: Rollup) -> Sums:
    """Returns a coarse roll-up as it is added up."""
    return Sums(
        row.blocks,
        tuple(bounded(row.counts)),
        tuple(bounded(row.statuses)),
        row.data_bytes,
        row.times.longest,
        dense(row.times),
    )


def pack(sums: ByFip) -> bytes:
    """Returns the sums of FIPs as one value."""
    return _encode(
        {
            fip_id: _Stored(
                one.blocks, one.counts, one.statuses, str(one.data_bytes), one.longest, one.times
            )
            for fip_id, one in sums.items()
        }
    )


def unpack(packed: bytes) -> dict[str, Sums]:
    """Returns what `pack` packed."""
    return {
        fip_id: Sums(
            one.blocks, one.counts, one.statuses, int(one.data_bytes), one.longest, one.times
        )
        for fip_id, one in _decode(packed).items()
    }


def add(many: list[ByFip]) -> ByFip:
    """Returns the sums of the same FIPs together."""
    if len(many) == 1:
        return many[0]
    found: dict[str, list[Sums]] = {}
    for sums in many:
        for fip_id, one in sums.items():
            found.setdefault(fip_id, []).append(one)
    return {fip_id: added(parts) for fip_id, parts in found.items()}
