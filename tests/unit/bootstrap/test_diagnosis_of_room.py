"""What `mudra doctor` says of the room that a growing database has."""

import pytest

from mudra.bootstrap.diagnosis.room import judge
from mudra.storage.database.server.growth import Growing, Growth

GIB = 1 << 30
GROWTH = Growth(3 * GIB, [Growing(GIB / 2, 90)])


@pytest.mark.parametrize(
    ("free", "passed", "said"),
    [
        (6 * GIB, False, "3.0 GiB, 0.50 GiB more a day: the disk is full in 13 days: make room"),
        (7 * GIB, True, "3.0 GiB, 0.50 GiB more a day: the disk is full in 15 days"),
        (45 * GIB, True, "3.0 GiB, 0.50 GiB more a day: the disk has room for it"),
        (None, True, "3.0 GiB, 0.50 GiB more a day; watch the disk of its server"),
    ],
)
def test_less_than_two_weeks_is_a_fault(free: int | None, said: str, *, passed: bool) -> None:
    found = judge(GROWTH, free)

    assert found.passed is passed
    assert found.text.startswith(said)
