"""The last 24 hours of an institution for everyone: full hours, its own calls, enough of them."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
from tests.support.metrics.incidents import an_incident

from mudra.metrics.health.own_calls import ALL, Field, OwnCalls, own_totals
from mudra.metrics.incidents.incident import Fip, FipApi
from mudra.metrics.payload.catalogue import CUSTOMER_CODES
from mudra.metrics.public_status.status_history import public_incident
from mudra.metrics.public_status.status_snapshot import LastHours

NOW = datetime(2026, 3, 4, 12, 40, tzinfo=UTC)
HOUR = timedelta(hours=1)
FULL = datetime(2026, 3, 4, 12, tzinfo=UTC)
"""The end of the last full hour."""


CODES = "fif,fireq"


def own(total: int, eligible: int, failed: int, codes: str = "") -> OwnCalls:
    counts = np.zeros((len(Field), ALL + 1, 1), np.int64)
    for field, number in ((Field.TOTAL, total), (Field.ELIGIBLE, eligible), (Field.FAILED, failed)):
        counts[field, ALL, 0] = number
        for code in codes.split(",") if codes else ():
            counts[field, CUSTOMER_CODES.index(code), 0] = number
    return OwnCalls(("BANK",), counts)


def last_hours(hours: dict[datetime, OwnCalls]) -> LastHours:
    wanted = {("BANK", CODES)}
    network: Any = SimpleNamespace(
        own_hours={at: own_totals(one, wanted) for at, one in hours.items()},
        within=SimpleNamespace(end=NOW),
    )
    return LastHours(cast("Any", network))


def shown(hours: dict[datetime, OwnCalls], fip_id: str = "BANK") -> tuple[float | None, ...]:
    return last_hours(hours).of(fip_id)[0]


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


def test_the_hour_that_goes_on_is_apart_and_few_calls_say_nothing_of_it() -> None:
    assert last_hours({FULL: own(200, 200, 50)}).of("BANK")[1] == 75.0
    assert last_hours({FULL: own(99, 99, 50)}).of("BANK")[1] is None
    assert last_hours({}).of("BANK")[1] is None


def test_an_open_incident_of_some_apis_has_their_hours_together() -> None:
    hours = last_hours({FULL: own(100, 100, 40, CODES), FULL - HOUR: own(60, 60, 6, CODES)})
    of_some = an_incident(FipApi("BANK", CODES), FULL - HOUR, None)
    of_all = an_incident(Fip("BANK"), FULL - HOUR, None)
    over = an_incident(FipApi("BANK", CODES), FULL - HOUR, FULL)

    found, whole, past = map(public_incident, (of_some, of_all, over))

    assert found is not None
    assert whole is not None
    assert past is not None
    drawn = hours.with_hours(found).success_by_hour
    assert (len(drawn), drawn[-2:], {*drawn[:-2]}) == (25, (90.0, 60.0), {None})
    assert hours.with_hours(whole).success_by_hour == ()
    assert hours.with_hours(past).success_by_hour == ()


def test_few_calls_and_unknown_institutions_show_nothing() -> None:
    assert set(shown({FULL - HOUR: own(99, 99, 0)})) == {None}
    assert shown({FULL - HOUR: own(100, 100, 0)})[-1] == 100.0
    assert set(shown({FULL - HOUR: own(100, 100, 0)}, "OTHER")) == {None}
