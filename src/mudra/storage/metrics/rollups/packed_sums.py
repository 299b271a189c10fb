"""Sums of all FIPs of one type in a window, as one value: a row of their own would cost more.

What `sums.py` says of a row holds here as well: times are coarse, and such sums add up exactly.
`packed_table.py` has the arithmetic; it imports numpy, so that a process loads it with the first
of them that it adds up.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from mudra.metrics.rollup.rollup import Cell, Rollup


def pack(sums: Mapping[str, Rollup]) -> bytes:
    """Returns the sums of FIPs, with coarse times, as one value."""
    from mudra.storage.metrics.rollups import packed_table  # noqa: PLC0415  # loads numpy

    return packed_table.write(packed_table.table_of(sums))


def pack_types(cells: Mapping[Cell, Rollup]) -> Mapping[str, bytes]:
    """Returns the sums of one AA, or of all, and one tag: those of each type as one value."""
    types: dict[str, dict[str, Rollup]] = defaultdict(dict)
    for cell, sums in cells.items():
        types[cell.type][cell.fip_id] = sums
    return {type_: pack(sums) for type_, sums in types.items()}


def add(many: Sequence[bytes]) -> bytes:
    """Returns packed values, at least one, added up by FIP."""
    from mudra.storage.metrics.rollups import packed_table  # noqa: PLC0415  # loads numpy

    if len(many) == 1:
        return many[0]
    return packed_table.write(packed_table.added(packed_table.read(one) for one in many))


def add_types(types: Mapping[str, Sequence[bytes]]) -> Mapping[str, bytes]:
    """Returns the packed values of each type, at least one, added up by FIP."""
    return {type_: add(many) for type_, many in types.items()}


def by_fip(many: Sequence[bytes], fip_id: str | None = None) -> dict[str, Rollup]:
    """Returns the sums of each FIP in packed values, or of the one that is named."""
    from mudra.storage.metrics.rollups import packed_table  # noqa: PLC0415  # loads numpy

    tables = (packed_table.read(one, fip_id) for one in many)
    return packed_table.rollups_of(packed_table.added(tables))


def over_fips(many: Sequence[bytes], fip_id: str | None = None) -> Rollup | None:
    """Returns the sums over all FIPs in packed values or of one; None for none."""
    from mudra.storage.metrics.rollups import packed_table  # noqa: PLC0415  # loads numpy

    tables = (packed_table.read(one, fip_id) for one in many)
    return packed_table.rollups_of(packed_table.added(tables, together=True)).get("")
