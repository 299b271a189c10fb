"""Sums in any order, split in any way, through bytes and back: those of a plain recount."""

import random
from itertools import combinations, cycle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.depth import examples
from tests.support.metrics.metrics_payloads import SOON_AFTER, WINDOW_START, request_metrics
from tests.support.metrics.random_blocks import Reported, reported_once, reports_of

from mudra.metrics.payload.catalogue import WINDOW, Tag
from mudra.metrics.payload.report import encode_report
from mudra.metrics.payload.validation import CheckedReport, check_report
from mudra.metrics.sums.adding import RunningSum, added, joined, stacked, summed_blocks
from mudra.metrics.sums.block_bytes import decoded, encoded
from mudra.metrics.sums.buckets import split
from mudra.metrics.sums.cells import KEYS, SUMS, Cells, Names, type_place
from mudra.metrics.sums.percentiles import samples_of
from mudra.metrics.sums.plain_recount import PlainSums, plain_recount, plain_rows
from mudra.metrics.sums.report_cells import report_cells

BY = [names for number in range(5) for names in combinations(KEYS, number)]


def through_bytes(cells: Cells, names: Names, fan: int = 1) -> list[Cells]:
    """What is read of cells of one AA once they are stored, by bucket."""
    aa = int(cells.keys["aa"][0])
    return [
        decoded(*encoded(part, names.ids), names, aa, int(part.keys["at"].min()))
        for _, part in split(cells, names.ids, fan)
    ]


def either(single: Cells, sums: list[Cells], dice: random.Random) -> list[Cells]:
    return [single] if dice.random() < 0.5 else sums


def key_of(one: Reported, by: tuple[str, ...], names: Names) -> tuple[int, ...]:
    values = {
        "at": one.at,
        "aa": names.place(one.aa_id),
        "type": type_place(one.tag, one.block.type),
        "fip": names.place(one.fip_id),
    }
    return tuple(values[name] for name in by)


def rows_by_key(sums: Cells, by: tuple[str, ...]) -> dict[tuple[int, ...], PlainSums]:
    keys = zip(*(sums.keys[name].tolist() for name in by), strict=True) if by else [()]
    return dict(zip(keys, plain_rows(sums), strict=True))


@given(reported_once(), st.sampled_from(BY), st.randoms(use_true_random=False))
def test_sums_in_any_order_and_through_bytes_are_those_of_a_recount(
    blocks: list[Reported], by: tuple[str, ...], dice: random.Random
):
    names = Names()
    reports = [report_cells(one, names) for one in reports_of(blocks)]
    stored = [part for one in reports for part in through_bytes(one, names, dice.choice((1, 4)))]
    some = [through_bytes(summed_blocks(one), names, dice.choice((1, 4))) for one in stored]
    parts = [part for each in zip(stored, some, strict=True) for part in either(*each, dice)]
    dice.shuffle(parts)
    cut = dice.randrange(len(parts) + 1)

    total = added([added(parts[:cut]), *parts[cut:]], by)

    wanted = plain_recount((key_of(one, by, names), one.block) for one in blocks)
    assert rows_by_key(total, by) == wanted
    without = added(parts, by, times=False)
    assert rows_by_key(without, by) == wanted
    assert without.rises is None


@settings(max_examples=examples(10))
@given(reported_once(), st.sampled_from(BY))
def test_every_answered_request_has_an_estimated_time(blocks: list[Reported], by: tuple[str, ...]):
    names = Names()

    total = added([report_cells(one, names) for one in reports_of(blocks)], by)

    answered = dict.fromkeys(rows_by_key(total, by), 0)
    for one in blocks:
        if one.tag is Tag.REQUESTS:
            answered[key_of(one, by, names)] += sum(one.block.counts[1:])
    assert dict(zip(answered, samples_of(total).tolist(), strict=True)) == answered
    lower, upper, estimate = (total.of(f"late_{one}") for one in ("lower", "upper", "estimate"))
    assert ((lower <= estimate) & (estimate <= upper)).all()


@pytest.mark.parametrize("times", [True, False])
def test_a_running_sum_of_many_parts_is_the_sum_of_all(times: bool):
    names = Names()
    parts = []
    for at in range(3):
        report = request_metrics(10, start=WINDOW_START + at * WINDOW, seed=at)
        checked = check_report(encode_report(report), SOON_AFTER + at * WINDOW)
        assert isinstance(checked, CheckedReport), checked
        parts.append(summed_blocks(report_cells(checked, names)))
    running = RunningSum(("fip",), times=times)

    for _ in range(300):
        for part in parts:
            running.add(part)

    once = added([*parts], ("fip",), times=times)
    total = running.total()
    assert total.keys["fip"].tolist() == once.keys["fip"].tolist()
    for name in SUMS:
        assert (total.of(name) == 300 * once.of(name)).all()
    assert (total.rises is not None) is times
    if total.rises is not None and once.rises is not None:
        assert (total.rises.place == once.rises.place).all()
        assert (total.rises.calls == 300 * once.rises.calls).all()


@settings(max_examples=examples(8))
@given(reported_once(), st.lists(st.sampled_from((1, 2, 8)), min_size=1), st.randoms())
def test_a_running_sum_of_buckets_in_any_order_is_the_sum_of_all(
    blocks: list[Reported], fans: list[int], dice: random.Random
):
    names = Names()
    reports = [report_cells(one, names) for one in reports_of(blocks)]
    parts = [
        part
        for report, fan in zip(reports, cycle(fans), strict=False)
        for part in split(report, names.ids, fan)
    ]
    dice.shuffle(parts)
    running = RunningSum()

    for bucket, part in parts:
        running.add(part, bucket)
        running.add(summed_blocks(part), bucket)

    assert rows_by_key(running.total(), KEYS) == rows_by_key(added([*reports, *reports]), KEYS)


@settings(max_examples=examples(8))
@given(reported_once())
def test_parts_below_each_other_are_those_of_each(blocks: list[Reported]):
    names = Names()
    reports = [report_cells(one, names) for one in reports_of(blocks)]

    whole, sums = joined(reports), stacked([summed_blocks(one) for one in reports])

    assert len(whole) == len(sums) == len(blocks)
    assert rows_by_key(added([whole]), KEYS) == rows_by_key(sums, KEYS)
