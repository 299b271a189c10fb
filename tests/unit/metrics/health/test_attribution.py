"""Whose fault a bad cell is, told from the whole matrix."""

import random

import pytest

from mudra.metrics.health.attribution import Blame, MatrixCell, verdicts
from mudra.metrics.health.health import Status


def matrix(*rows: str, calls: int = 100) -> list[MatrixCell]:
    """One text a row (AA), one letter a FIP: g good, b bad, ? unsure, s bad with few calls."""
    cells = []
    for aa, row in enumerate(rows):
        for fip, letter in enumerate(row):
            status = {"g": Status.GOOD, "?": Status.UNSURE}.get(letter, Status.BAD)
            judged = {"?": 0, "s": 3}.get(letter, calls)
            ok = judged if letter == "g" else judged // 2
            cells.append(MatrixCell(f"aa{aa}", f"fip{fip}", status, ok, judged))
    return cells


def blames(*rows: str) -> dict[tuple[int, int], Blame]:
    return {
        (int(found.cell.aa_id[2:]), int(found.cell.fip_id[3:])): found.blame
        for found in verdicts(matrix(*rows))
    }


def test_a_fip_that_is_bad_from_all_aas_is_at_fault_itself():
    assert blames("gbg", "gbg", "gbg") == {(aa, 1): Blame.FIP for aa in range(3)}


def test_a_cell_that_is_bad_alone_lies_on_the_path():
    assert blames("ggg", "gbg", "ggg") == {(1, 1): Blame.PATH_OR_AA}


def test_an_aa_at_which_all_fips_look_bad_has_lost_the_network():
    assert blames("ggg", "bbb", "ggg") == {(1, fip): Blame.NETWORK for fip in range(3)}


def test_a_fallen_fip_and_a_lost_aa_are_told_apart():
    found = blames("ggbgg", "bbbbb", "ggbgg", "ggbgg")

    assert {place for place, blame in found.items() if blame is Blame.FIP} == {
        (0, 2),
        (1, 2),
        (2, 2),
        (3, 2),
    }
    assert {found[1, fip] for fip in (0, 1, 3, 4)} == {Blame.NETWORK}


@pytest.mark.parametrize("shape", [("bb", "bb"), ("bbbbb", "bbbbb"), ("bb",) * 6])
def test_when_everything_is_bad_it_is_the_network(shape):
    assert set(blames(*shape).values()) == {Blame.NETWORK}


def test_a_fip_that_only_one_aa_calls_cannot_be_judged():
    assert blames("gb", "g?") == {(0, 1): Blame.UNSURE}


def test_few_calls_are_no_evidence_against_others():
    assert blames("gsg", "gbg", "ggg")[1, 1] is Blame.PATH_OR_AA


def test_nearly_all_is_enough():
    assert set(blames("gbg", "gbg", "gbg", "gbg", "ggg").values()) == {Blame.FIP}


def test_a_matrix_without_bad_cells_has_no_verdicts():
    assert verdicts(matrix("gg", "?g")) == ()


def test_a_verdict_carries_the_counts_behind_it():
    (found,) = verdicts(matrix("ggg", "gbg", "g?g"))

    assert (found.other_aas, found.other_aas_bad) == (1, 0)
    assert (found.other_fips, found.other_fips_bad) == (2, 0)
    assert (found.cell.succeeded, found.cell.judged) == (50, 100)


def test_the_order_of_the_cells_does_not_matter():
    cells = matrix("ggbgg", "bbbbb", "ggbgb", "gsb?g")
    shuffled = cells[:]
    random.Random(5).shuffle(shuffled)

    assert verdicts(shuffled) == verdicts(cells)
