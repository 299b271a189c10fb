"""Blocks of bytes come back as they were, or are refused: damage is never taken for numbers."""

import random
import tracemalloc
import zlib
from collections.abc import Callable

import msgspec
import numpy as np
import pytest
import zstandard
from hypothesis import given, settings
from tests.support.depth import examples
from tests.support.metrics.metrics_payloads import SOON_AFTER, as_value, request_metrics
from tests.support.metrics.random_blocks import Reported, reported_once, reports_of

from mudra.metrics.payload.catalogue import NotificationType, RequestType
from mudra.metrics.payload.validation import CheckedReport, check_report
from mudra.metrics.sums.adding import added, summed_blocks
from mudra.metrics.sums.block_bytes import DamagedBlock, decoded, encoded
from mudra.metrics.sums.cells import Cells, Names
from mudra.metrics.sums.plain_recount import plain_rows
from mudra.metrics.sums.report_cells import blocks_of, report_cells

AT = 2_900_000
MEBIBYTE = 1024 * 1024


def some_sums() -> tuple[bytes, bytes]:
    """Numbers and times of ten FIPs."""
    checked = check_report(msgspec.json.encode(as_value(request_metrics(10))), SOON_AFTER)
    assert isinstance(checked, CheckedReport)
    names = Names()
    return encoded(summed_blocks(report_cells(checked, names)), names.ids)


NUMBERS, TIMES = some_sums()


def content_of(stored: bytes) -> bytes:
    return zstandard.ZstdDecompressor().decompress(stored[:-4])


def sealed(content: bytes) -> bytes:
    """The bytes of a block whose checksum holds, whatever its content."""
    packed = zstandard.ZstdCompressor().compress(content)
    return packed + zlib.crc32(packed).to_bytes(4)


def read(numbers: bytes, times: bytes | None) -> Cells:
    return decoded(numbers, times, Names(), 1, AT)


@settings(max_examples=examples(12))
@given(reported_once())
def test_a_report_comes_back_as_it_was_sent(blocks: list[Reported]):
    for checked in reports_of(blocks):
        names = Names()
        cells = report_cells(checked, names)

        back = decoded(*encoded(cells, names.ids), names, 1, int(cells.keys["at"][0]))

        sent = [(fip.fip_id, block) for fip in checked.report.fips for block in fip.metrics]
        assert sorted(blocks_of(back, names.ids), key=str) == sorted(sent, key=str)
        assert back.keys["at"].tolist() == cells.keys["at"].tolist()
        assert set(back.keys["aa"].tolist()) == {1}


@settings(max_examples=examples(12))
@given(reported_once())
def test_sums_of_some_fips_are_those_among_all(blocks: list[Reported]):
    names = Names()
    reports = [report_cells(one, names) for one in reports_of(blocks)]
    numbers, times = encoded(added(reports, ("at", "type", "fip")), names.ids)
    at = min(one.at for one in blocks)

    whole = decoded(numbers, times, names, 1, at)
    fips = sorted({names.ids[place] for place in whole.keys["fip"].tolist()})
    for mine in ({"of no block"}, *({one} for one in fips), {*fips[::2], "of no block"}, fips):
        one = decoded(numbers, times, names, 1, at, mine)
        among = whole.chosen(np.isin(whole.keys["fip"], names.places(mine)))
        assert plain_rows(one) == plain_rows(among)
        assert {name: column.tolist() for name, column in one.keys.items()} == {
            name: column.tolist() for name, column in among.keys.items()
        }
        assert one.rises is not None
        assert among.rises is not None
        for column, wanted in zip(one.rises, among.rises, strict=True):
            assert column.tolist() == wanted.tolist()


def test_equal_cells_have_equal_bytes_whatever_their_order_and_numbers():
    names, others = Names(), Names(["another", "BANK-007"])
    back, elsewhere = (decoded(NUMBERS, TIMES, ids, 1, AT) for ids in (names, others))
    backwards = elsewhere.chosen(np.arange(len(elsewhere))[::-1])

    assert encoded(back, names.ids) == encoded(backwards, others.ids) == (NUMBERS, TIMES)


def test_sums_past_64_bits_are_exact():
    names = Names()
    total = decoded(NUMBERS, TIMES, names, 1, AT)
    wanted = plain_rows(total)
    for _ in range(66):
        total = added([total, total])
        total = decoded(*encoded(total, names.ids), names, 1, AT)

    assert [row.blocks for row in plain_rows(total)] == [row.blocks << 66 for row in wanted]
    assert [row.counts for row in plain_rows(total)] == [
        [calls << 66 for calls in row.counts] for row in wanted
    ]


def test_a_total_past_64_bits_of_counts_within_them_is_exact():
    names = Names(["FIP-A"])
    one = np.array([1])
    half = np.array([2**62])
    whole = np.array([2**63 + 5], object)
    keys = {"at": one * AT, "aa": one, "type": one, "fip": one}
    sums = Cells(keys, {"blocks": one, "c0": whole, "c1": half, "c2": half}, one, None, None)

    back = decoded(*encoded(sums, names.ids), names, 1, AT)

    assert sums.answered().tolist() == back.answered().tolist() == [2**63]
    assert back.of("c0").tolist() == [2**63 + 5]


@pytest.mark.parametrize("stored", [NUMBERS, TIMES], ids=["numbers", "times"])
def test_any_changed_byte_and_any_cut_is_noticed(stored: bytes):
    dice = random.Random(1)
    damaged = [stored[:length] for length in range(1, len(stored))]
    for place in range(len(stored)):
        change = dice.randrange(1, 256)
        for flipped in {change, 1 << dice.randrange(8)}:
            copy = bytearray(stored)
            copy[place] ^= flipped
            damaged.append(bytes(copy))
    damaged.append(stored + b"\0")

    for one in damaged:
        with pytest.raises(DamagedBlock):
            read(one, TIMES) if stored is NUMBERS else read(NUMBERS, one)


def numbers_with(change: Callable[[list[object]], object]) -> bytes:
    fields = msgspec.msgpack.decode(content_of(NUMBERS))
    change(fields)
    return sealed(msgspec.msgpack.encode(fields))


def set_field(place: int, value: object) -> Callable[[list[object]], object]:
    return lambda fields: fields.__setitem__(place, value)


def set_column(name: str, column: object) -> Callable[[list[object]], object]:
    return lambda fields: fields[4].__setitem__(name, column)  # type: ignore[index,union-attr]


ROWS = 10 * len(RequestType)
"""Of `NUMBERS`: one for each FIP and type."""
LAST_TYPE = len(RequestType) + len(NotificationType)
LONG = msgspec.msgpack.encode([b"\1"] * ROWS)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (set_field(0, 3), "form is 3"),
        (set_field(0, "1"), "cannot be read"),
        (set_field(2, -1), "-1 rows"),
        (set_field(2, 10**9), "1000000000 rows"),
        (set_field(2, ROWS - 1), "column"),
        (set_field(3, []), "FIPs"),
        (set_field(3, ["A", "A"]), "FIPs"),
        (set_field(3, ["A" * 65]), "cannot be read"),
        (set_column("c99", [1, b"\0" * ROWS]), "unknown columns"),
        (set_column("c1", [3, b"\0" * 3 * ROWS]), "column"),
        (set_column("c1", [1, b"\0" * (ROWS + 1)]), "column"),
        (set_column("c1", [-1, b""]), "column"),
        (set_column("c1", [8, b"\xff" * 8 * ROWS]), "63 bits"),
        (set_column("c1", [0, b"\xc1"]), "cannot be read"),
        (set_column("c1", [0, msgspec.msgpack.encode([b"\1"] * (ROWS - 1))]), f"has {ROWS - 1}"),
        (set_column("type", [1, bytes([LAST_TYPE + 1]) * ROWS]), f"beyond {LAST_TYPE}"),
        (set_column("type", [0, LONG]), f"beyond {LAST_TYPE}"),
        (set_column("at", [8, b"\x7f" * 8 * ROWS]), "beyond"),
        (set_column("fip", [1, b"\x0a" * ROWS]), "beyond 9"),
        (set_column("longest", [8, b"\x7f" * 8 * ROWS]), "beyond"),
        (lambda fields: fields.append(1), "cannot be read"),
        (lambda fields: fields.pop(), "cannot be read"),
    ],
)
def test_a_block_of_another_form_is_refused(change: Callable[[list[object]], object], says: str):
    with pytest.raises(DamagedBlock, match=says):
        read(numbers_with(change), None)


def test_times_that_are_not_of_the_rows_are_refused():
    form, width, place, calls = msgspec.msgpack.decode(content_of(TIMES))
    far = [8, b"\x7f" * 8 * len(place[1])]
    for fields in (
        [3, width, place, calls],
        [form, [1, width[1][:-1]], place, calls],
        [form, [2, b"\xff\xff" * 110], place, calls],
        [form, [1, b"\xff" * 110], place, calls],
        [form, width, [1, place[1][1:]], calls],
        [form, width, far, calls],
        [form, width, [1, b"\xff" * len(place[1])], calls],
        [form, width, place, [1, b"\0"]],
        [form, width, place],
    ):
        with pytest.raises(DamagedBlock):
            read(NUMBERS, sealed(msgspec.msgpack.encode(fields)))


def test_what_unpacks_to_more_than_a_block_is_refused_without_unpacking():
    bomb = zstandard.ZstdCompressor().compress(bytes(256 * MEBIBYTE))
    unknown = zstandard.ZstdCompressor(write_content_size=False).compress(b"\x95")
    names = msgspec.msgpack.encode([1, True, 10, [""], {}])
    many = names.replace(b"\x91\xa0", b"\xdd" + (2**25).to_bytes(4) + bytes([0xA0]) * 2**25)
    tracemalloc.start()
    try:
        for packed in (bomb, unknown, zstandard.ZstdCompressor().compress(many)):
            with pytest.raises(DamagedBlock):
                read(packed + zlib.crc32(packed).to_bytes(4), None)
        assert tracemalloc.get_traced_memory()[1] < 120 * MEBIBYTE
    finally:
        tracemalloc.stop()


def test_bytes_of_anything_are_read_as_cells_or_refused():
    dice = random.Random(2)
    numbers, times = content_of(NUMBERS), content_of(TIMES)
    refused = 0
    for _ in range(1500):
        changed = bytearray(dice.choice((numbers, times)))
        for _ in range(dice.randrange(1, 4)):
            changed[dice.randrange(min(len(changed), 4000))] = dice.randrange(256)
        if dice.random() < 0.2:
            del changed[dice.randrange(len(changed)) :]
        content = sealed(bytes(changed))
        for pair in ((content, TIMES), (NUMBERS, content)):
            try:
                found = read(*pair)
            except DamagedBlock:
                refused += 1
            else:
                added([found], ("type",))  # no number in it breaks what reads it

    assert refused > 1500
