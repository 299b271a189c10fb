"""Sums of all FIPs of one type in a window, as one value: a row of their own would cost more.

What `sums.py` says of a row holds here as well: times are coarse, and such sums add up exactly.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
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


def by_fip(many: Iterable[bytes], fip_id: str | None = None) -> dict[str, list[Sums]]:
    """Returns the sums of each FIP in packed values, or of the one that is named."""
    found: dict[str, list[Sums]] = defaultdict(list)
    for packed in many:
        sums = unpack(packed)
        for one in sums if fip_id is None else sums.keys() & {fip_id}:
            found[one].append(sums[one])
    return found


def add(many: Sequence[bytes]) -> bytes:
    """Returns packed values added up."""
    if len(many) == 1:
        return many[0]
    return pack({fip_id: added(parts) for fip_id, parts in by_fip(many).items()})
