"""A budget as its page shows it."""

from datetime import UTC, datetime

import pytest

from mudra.console.pages.levels.view import budget_rows
from mudra.levels.budgets.burn_rule import Burn, Outlook
from mudra.levels.budgets.burn_store import StoredBurn
from mudra.levels.target import Measure

MONTH = datetime(2026, 11, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("left", "shown"),
    [
        (9.7, "9.7 %"),
        (-71.0, "over by 71 %"),
        (-100.0, "spent 2.0 times"),
        (-1817.0, "spent 19.2 times"),
    ],
)
def test_a_budget_spent_twice_or_more_says_how_often(left: float, shown: str) -> None:
    gone = Outlook.GONE if left < 0 else Outlook.WITHIN
    burn = Burn(Measure.AVAILABILITY, 99.5, 2309, 44276, 455_000, left, 1.0, 1.0, None, gone)

    (row,) = budget_rows([StoredBurn("F", MONTH, MONTH, burn)])

    assert row.left == shown
