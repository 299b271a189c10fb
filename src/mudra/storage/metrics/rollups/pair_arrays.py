"""The sums of pairs as arrays: a nation has 80,000 pairs, for each API and hour.

Imports numpy: a process loads it with the first sums of pairs that it reads or writes.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from sys import intern
from typing import Any, Final

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import astuple, fields
from numpy.typing import NDArray

from mudra.metrics.ports import Pair
from mudra.metrics.rollup.pair import PairSums, is_good_in_sums
from mudra.storage.metrics.rollups.packed_table import narrow, whole_numbers, wide

_COLUMNS: Final = tuple(field.name for field in fields(PairSums))
_LONGEST: Final = _COLUMNS.index("longest")
"""The last column, of which the largest counts; all others add up."""
_EXACT: Final = 2**50
"""Beyond sums of this size a percentage might not fit into 64 bits: Python's integers are used."""
_ROOM: Final = (8, 256)
"""AAs and FIPs for which there is room at first; it doubles."""


class _Stored(Struct, frozen=True, array_like=True):
    fip_ids: list[str]
    columns: list[tuple[int, bytes]]


_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(_Stored).decode


def pack_pairs(sums: Mapping[str, PairSums]) -> bytes:
    """Returns the sums of an AA's pairs, by FIP, as one value."""
    return _encode(_Stored([*sums], [narrow(column) for column in _columns_of(sums.values())]))


def number_of_pairs(packed: bytes) -> int:
    """Returns how many pairs `pack_pairs` was given."""
    return len(_decode(packed).fip_ids)


class PairArrays:
    """Sums of pairs that are being added up: of one API, or of some together."""

    def __init__(self) -> None:
        self._aas: dict[str, int] = {}
        self._fips: dict[str, int] = {}
        self._sums: NDArray[Any] = np.zeros((len(_COLUMNS), *_ROOM), np.int64)
        self._seen = np.zeros(_ROOM, np.bool_)
        self._largest = 0

    def add_packed(self, aa_id: str, packed: bytes, fip_id: str | None = None) -> None:
        """Adds what `pack_pairs` made of an AA's pairs, or that of the FIP that is named."""
        stored = _decode(packed)
        if fip_id is None and stored.fip_ids:
            self._add(aa_id, stored.fip_ids, [wide(column) for column in stored.columns])
        elif fip_id in stored.fip_ids:
            at = stored.fip_ids.index(fip_id)
            self._add(aa_id, [fip_id], [wide(column)[at : at + 1] for column in stored.columns])

    def add_pairs(self, pairs: Iterable[tuple[Pair, PairSums]]) -> None:
        """Adds some pairs."""
        by_aa: dict[str, dict[str, PairSums]] = {}
        for pair, sums in pairs:
            by_aa.setdefault(pair.aa_id, {})[pair.fip_id] = sums
        for aa_id, of_aa in by_aa.items():
            self._add(aa_id, [*of_aa], _columns_of(of_aa.values()))

    def pairs(self) -> dict[Pair, PairSums]:
        """Returns all pairs."""
        return self._of(self._seen)

    def of_fips(self) -> dict[str, PairSums]:
        """Returns the sums of each FIP over all AAs."""
        fips = [*self._fips]
        columns = [
            (column.max if place == _LONGEST else column.sum)(axis=0)
            for place, column in enumerate(self._sums)
        ]
        (at,) = np.nonzero(self._seen.any(axis=0))
        rows = np.stack(columns)[:, at].T.tolist()
        return {fips[fip]: PairSums(*row) for fip, row in zip(at.tolist(), rows, strict=True)}

    def contested(self) -> dict[Pair, PairSums]:
        """Returns the pairs of the FIPs of which not every AA sees good calls."""
        good = np.asarray(is_good_in_sums(PairSums(*self._sums)), np.bool_)
        return self._of(self._seen & (self._seen & ~good).any(axis=0))

    def _add(self, aa_id: str, fip_ids: Sequence[str], columns: Sequence[NDArray[Any]]) -> None:
        self._make_room(aa_id, fip_ids, sum(int(column.max()) for column in columns))
        aa, fips = self._aas[aa_id], self._fips
        at = np.fromiter((fips[fip_id] for fip_id in fip_ids), np.int64, len(fip_ids))
        for place, column in enumerate(columns):
            of_aa = self._sums[place, aa]
            add = np.maximum if place == _LONGEST else np.add
            of_aa[at] = add(of_aa[at], column)
        self._seen[aa, at] = True

    def _make_room(self, aa_id: str, fip_ids: Sequence[str], largest: int) -> None:
        self._aas.setdefault(intern(aa_id), len(self._aas))
        for fip_id in fip_ids:
            if fip_id not in self._fips:
                # One text for all rows of an ID: 80,000 pairs would have 9 MB of copies.
                self._fips[intern(fip_id)] = len(self._fips)
        self._largest += largest
        if self._largest > _EXACT and self._sums.dtype != object:
            self._sums = self._sums.astype(object)
        for axis, number in ((-2, len(self._aas)), (-1, len(self._fips))):
            while number > self._seen.shape[axis]:
                self._sums = _doubled(self._sums, axis)
                self._seen = _doubled(self._seen, axis)

    def _of(self, wanted: NDArray[np.bool_]) -> dict[Pair, PairSums]:
        aas, fips = [*self._aas], [*self._fips]
        at_aa, at_fip = np.nonzero(wanted)
        rows = self._sums[:, at_aa, at_fip].T.tolist()
        return {
            Pair(aas[aa], fips[fip]): PairSums(*row)
            for aa, fip, row in zip(at_aa.tolist(), at_fip.tolist(), rows, strict=True)
        }


def _columns_of(sums: Collection[PairSums]) -> Sequence[NDArray[Any]]:
    numbers = whole_numbers([number for one in sums for number in astuple(one)])
    return [*numbers.reshape(len(sums), len(_COLUMNS)).T]


def _doubled(array: NDArray[Any], axis: int) -> NDArray[Any]:
    return np.concatenate((array, np.zeros_like(array)), axis=axis)
