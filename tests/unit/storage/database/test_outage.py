"""What an error of the driver says about the database as a whole."""

import psycopg
import pytest

from mudra.shared.unavailable import Outage
from mudra.storage.database.outage import outage_of


@pytest.mark.parametrize(
    "error", [psycopg.errors.DeadlockDetected(), psycopg.errors.SerializationFailure()]
)
def test_acts_that_wait_for_each_other_are_no_lost_connection(error: psycopg.Error) -> None:
    outage = outage_of(error)

    assert outage is not None
    assert outage.cause is Outage.TOO_SLOW
