import random

import pytest

from mudra.agent.counting.tally import Tally, Times
from mudra.metrics.payload.catalogue import Position

MAX_EXACT = 1_024


def _nearest_rank(values: list[int], percent: int) -> int:
    return sorted(values)[max(1, -(-percent * len(values) // 100)) - 1]


def test_nothing_answered_gives_zeros() -> None:
    assert Times().percentiles() == (0, 0, 0, 0)


@pytest.mark.parametrize("count", [1, 2, 19, 20, 21, 31, 100, MAX_EXACT - 1])
def test_few_times_give_exact_percentiles(count: int) -> None:
    values = [random.Random(count).randint(0, 30_000) for _ in range(count)]
    times = Times()

    for value in values:
        times.add(value)

    assert times.percentiles() == tuple(_nearest_rank(values, p) for p in (50, 95, 99, 100))


@pytest.mark.parametrize("count", [MAX_EXACT, MAX_EXACT + 1, 5_000, 30_001])
@pytest.mark.parametrize("shape", ["even", "heavy tail", "constant"])
def test_many_times_give_percentiles_within_one_percent_and_the_longest_exact(
    count: int, shape: str
) -> None:
    chance = random.Random(f"{count}{shape}")
    draw = {
        "even": lambda: chance.randint(0, 30_000),
        "heavy tail": lambda: int(chance.lognormvariate(5, 1.5)),
        "constant": lambda: 777,
    }[shape]
    values = [draw() for _ in range(count)]
    times = Times()

    for value in values:
        times.add(value)
    *some, longest = times.percentiles()

    for percent, got in zip((50, 95, 99), some, strict=True):
        exact = _nearest_rank(values, percent)
        assert abs(got - exact) <= 0.01 * exact
    assert longest == max(values)
    assert some == sorted(some)


@pytest.mark.parametrize("count", [0, 5, MAX_EXACT, 3_000])
def test_a_snapshot_of_times_gives_the_same_percentiles_and_goes_on(count: int) -> None:
    times = Times()
    for value in range(count):
        times.add(value * 3)

    restored = Times.restored(times.state())

    assert restored.percentiles() == times.percentiles()
    times.add(99_999)
    restored.add(99_999)
    assert restored.percentiles() == times.percentiles()


@pytest.mark.parametrize(
    ("status", "place"),
    [
        (200, Position.OK_200), (400, Position.BAD_REQUEST_400), (401, Position.UNAUTHORIZED_401),
        (403, Position.FORBIDDEN_403), (404, Position.NOT_FOUND_404), (409, Position.CONFLICT_409),
        (412, Position.PRECONDITION_412), (429, Position.TOO_MANY_429), (410, Position.OTHER_4XX),
        (500, Position.INTERNAL_500), (502, Position.BAD_GATEWAY_502), (503, Position.UNAVAILABLE_503),
        (504, Position.GATEWAY_TIMEOUT_504), (501, Position.OTHER_5XX),
    ],
)  # fmt: skip
def test_every_status_has_its_position(status: int, place: Position) -> None:
    tally = Tally()

    tally.started()
    tally.answered(status, 5, timed=True)

    assert tally.counts[Position.TOTAL] == tally.counts[place] == 1
    assert sum(tally.counts) == 2


def test_an_answer_without_a_position_is_in_the_total_only() -> None:
    tally = Tally()

    tally.started()
    tally.answered(302, 5, timed=True)

    assert sum(tally.counts) == tally.counts[Position.TOTAL] == 1
