"""The likely cause of a failing cell of the AA x FIP matrix: the FIP, the path or AA, the network.

A FIP that is bad for (nearly) all AAs is itself the cause. An AA for which
(nearly) all FIPs are bad has a network problem of its own. A cell that
is bad alone points to the path between the two. Lines that explain most bad
cells are named first and then left out of the comparison, so that a failed
FIP does not make its AAs look bad, nor vice versa.
"""

import enum
from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from mudra.metrics.health.health import Status
from mudra.metrics.rollup.pair import PairSums, status_of_pair


class Blame(enum.StrEnum):
    """The likely cause of a bad cell."""

    FIP = "fip"
    PATH_OR_AA = "path-or-aa"
    NETWORK = "network"
    UNSURE = "unsure"
    """No other AA called this FIP, so there is nothing to compare with."""


class MatrixCell(Struct, frozen=True):
    """The calls of one AA to one FIP, and their status."""

    aa_id: str
    fip_id: str
    status: Status
    succeeded: int
    judged: int


class AttributionRules(Struct, frozen=True):
    """The calls that a cell needs to count as evidence, and the bad cells that make a line bad."""

    fewest_calls: int = 10
    bad_share_percent: int = 80
    fewest_cells: int = 2


class Verdict(Struct, frozen=True):
    """Blame for one bad cell, with the counts it follows from; they leave out the cell itself."""

    cell: MatrixCell
    blame: Blame
    other_aas: int
    """Other AAs with enough calls to this FIP."""
    other_aas_bad: int
    other_fips: int
    """Other FIPs with enough calls from this AA."""
    other_fips_bad: int


STANDARD_RULES: Final = AttributionRules()


def matrix_cell(aa_id: str, fip_id: str, sums: PairSums) -> MatrixCell:
    """Returns the cell of one pair."""
    return MatrixCell(aa_id, fip_id, status_of_pair(sums), sums.succeeded, sums.judged)


def verdicts(
    cells: Iterable[MatrixCell], rules: AttributionRules = STANDARD_RULES
) -> tuple[Verdict, ...]:
    """Returns a verdict for every bad cell, in order of FIP and AA."""
    matrix = sorted(cells, key=lambda cell: (cell.fip_id, cell.aa_id))
    evidence = [cell for cell in matrix if _counts(cell, rules)]
    bad_fips, bad_aas = _bad_lines(evidence, rules)
    all_down = _all_down(evidence, rules)
    fips, aas = _lines(evidence)
    found: list[Verdict] = []
    for cell in matrix:
        if cell.status is not Status.BAD:
            continue
        counted = _counts(cell, rules)
        column = _others(fips.get(cell.fip_id, []), counted=counted)
        row = _others(aas.get(cell.aa_id, []), counted=counted)
        if all_down:
            blame = Blame.NETWORK
        elif cell.fip_id in bad_fips:
            blame = Blame.FIP
        elif cell.aa_id in bad_aas:
            blame = Blame.NETWORK
        else:
            blame = Blame.PATH_OR_AA if column[0] else Blame.UNSURE
        found.append(Verdict(cell, blame, *column, *row))
    return tuple(found)


def _counts(cell: MatrixCell, rules: AttributionRules) -> bool:
    return cell.status is not Status.UNSURE and cell.judged >= rules.fewest_calls


def _all_down(evidence: list[MatrixCell], rules: AttributionRules) -> bool:
    """Returns whether everything is bad: then the network failed, not each FIP at once."""
    aas, fips = ({cell.aa_id for cell in evidence}, {cell.fip_id for cell in evidence})
    wide = min(len(aas), len(fips)) >= rules.fewest_cells
    return wide and _mostly_bad(evidence, rules)


def _mostly_bad(line: list[MatrixCell], rules: AttributionRules) -> bool:
    bad = sum(cell.status is Status.BAD for cell in line)
    return len(line) >= rules.fewest_cells and bad * 100 >= rules.bad_share_percent * len(line)


def _bad_lines(evidence: list[MatrixCell], rules: AttributionRules) -> tuple[set[str], set[str]]:
    """Removes the bad line with the most bad cells, then compares again, until none is left."""
    bad_fips: set[str] = set()
    bad_aas: set[str] = set()
    left = evidence
    while True:
        fips, aas = _lines(left)
        found = [
            (len(line), "fip", name) for name, line in fips.items() if _mostly_bad(line, rules)
        ]
        found += [(len(line), "aa", name) for name, line in aas.items() if _mostly_bad(line, rules)]
        if not found:
            return bad_fips, bad_aas
        _, side, name = max(found)
        (bad_fips if side == "fip" else bad_aas).add(name)
        left = [c for c in left if c.fip_id not in bad_fips and c.aa_id not in bad_aas]


_Lines = dict[str, list[MatrixCell]]


def _lines(cells: list[MatrixCell]) -> tuple[_Lines, _Lines]:
    fips: _Lines = {}
    aas: _Lines = {}
    for cell in cells:
        fips.setdefault(cell.fip_id, []).append(cell)
        aas.setdefault(cell.aa_id, []).append(cell)
    return fips, aas


def _others(line: list[MatrixCell], *, counted: bool) -> tuple[int, int]:
    """Returns the number of other cells in the line, and how many of them are bad."""
    bad = sum(cell.status is Status.BAD for cell in line)
    return len(line) - counted, bad - counted
