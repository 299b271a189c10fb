"""An AA's view of a FIP next to the quartiles of the others'."""

import pytest

from mudra.comparison.others import Answer, WithOthers, bad_apis, with_others
from mudra.comparison.quartiles import Quartiles
from mudra.metrics.health.health import ErrorDetails, Health, Status
from mudra.metrics.health.picture import ApiPicture, Row, Subject
from mudra.metrics.payload.catalogue import Tag
from mudra.metrics.rollup.coverage import Proof

NO_PROOF = Proof(0, 0, 0, 0)


def api(share: float, calls: int = 100, code: str = "fif") -> ApiPicture:
    status = Status.GOOD if share > 0.95 else Status.BAD
    errors = ErrorDetails(0, 0, 0, 0)
    health = Health(
        calls, int(calls * share), calls, share, errors, status, certain=True, time=None
    )
    return ApiPicture(Tag.REQUESTS, code, health, None, None, None)


def row(aa_id: str, *apis: ApiPicture, fip_id: str = "A-FIP") -> Row:
    return Row(Subject(aa_id, fip_id), apis, NO_PROOF)


def compared(mine: float, *others: float, calls: int = 100) -> WithOthers:
    rows = [row(f"{number}-AA", api(one, calls)) for number, one in enumerate(others)]
    return with_others("ME-AA", "A-FIP", api(mine), [*rows, row("ME-AA", api(mine))])


@pytest.mark.parametrize(
    ("mine", "others", "answer"),
    [
        (0.55, (0.99, 0.99, 0.98, 1.0, 1.0), Answer.ONLY_YOU),
        (0.55, (0.5, 0.56, 0.6, 0.58, 0.58), Answer.OTHERS_TOO),
        (0.24, (0.36, 0.38, 0.39, 0.40, 0.41), Answer.OTHERS_TOO),
        (0.55, (0.56, 0.57, 0.99, 0.99, 0.99), Answer.SOME),
        (0.76, (0.86, 0.86, 0.90, 0.91, 0.98), Answer.SOME),
        (0.55, (0.99, 0.99, 0.99, 0.99), Answer.TOO_FEW),
    ],
)
def test_the_answer(mine: float, others: tuple[float, ...], answer: Answer) -> None:
    found = compared(mine, *others)

    assert found.answer is answer
    assert (found.quartiles is None) == (answer is Answer.TOO_FEW)


def test_oneself_is_none_of_the_others_and_few_calls_count_for_nothing() -> None:
    assert compared(0.5, 0.9, 0.9, 0.9, 0.9).others == 4
    assert compared(0.5, 0.9, 0.9, 0.9, 0.9, calls=19).others == 0


def test_quartiles_are_of_no_single_aa() -> None:
    found = compared(0.5, 0.90, 0.92, 0.94, 0.96, 0.98).quartiles

    assert found == Quartiles(0.92, 0.94, 0.96)


def test_the_fips_that_are_called_most_come_first_and_no_good_api() -> None:
    rows = [
        row("ME-AA", api(0.5, 10), fip_id="B-FIP"),
        row("ME-AA", api(0.5, 90), api(0.99, 900, "cns"), fip_id="A-FIP"),
        row("ME-AA", api(0.99), fip_id="C-FIP"),
    ]
    found = bad_apis(rows, 1)

    assert [(fip_id, one.type) for fip_id, one in found] == [("A-FIP", "fif")]
