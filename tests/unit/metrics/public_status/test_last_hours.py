"""The last 24 hours of an institution for everyone: full hours, its own calls, enough of them."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from mudra.metrics.health.own_calls import ALL, Field, OwnCalls, own_totals
from mudra.metrics.public_status.status_snapshot import LastHours

NOW = datetime(2026, 3, 4, 12, 40, tzinfo=UTC)
HOUR = timedelta(hours=1)
FULL = datetime(2026, 3, 4, 12, tzinfo=UTC)
"""The end of the last full hour."""


def own(total: int, eligible: int, failed: int) -> OwnCalls:
    counts = np.zeros((len(Field), ALL + 1, 1), np.int64)
    for field, number in ((Field.TOTAL, total), (Field.ELIGIBLE, eligible), (Field.FAILED, failed)):
        counts[field, ALL, 0] = number
    return OwnCalls(("BANK",), counts)


def shown(hours: dict[datetime, OwnCalls], fip_id: str = "BANK") -> tuple[float | None, ...]:
    network: Any = SimpleNamespace(
        own_hours={at: own_totals(one) for at, one in hours.items()},
        within=SimpleNamespace(end=NOW),
    )
    return LastHours(cast("Any", network)).of(fip_id)


def test_full_hours_are_shown_in_their_order_without_the_one_that_goes_on() -> None:
    hours = {
        FULL: own(900, 900, 900),
        FULL - HOUR: own(200, 200, 1),
        FULL - 24 * HOUR: own(1000, 800, 8),
        FULL - 25 * HOUR: own(500, 500, 0),
    }

    found = shown(hours)

    assert len(found) == 24
    assert (found[0], found[-1]) == (99.0, 99.5)
    assert set(found[1:-1]) == {None}


def test_few_calls_and_unknown_institutions_show_nothing() -> None:
    assert set(shown({FULL - HOUR: own(99, 99, 0)})) == {None}
    assert shown({FULL - HOUR: own(100, 100, 0)})[-1] == 100.0
    assert set(shown({FULL - HOUR: own(100, 100, 0)}, "OTHER")) == {None}
