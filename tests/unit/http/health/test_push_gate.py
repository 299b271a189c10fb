"""A node that is full sends pushes away with a time to come back, spread, and loses count of none."""

from mudra.http.health.push_gate import PushGate
from mudra.http.response.errors import problem_of


def test_whoever_finds_the_gate_full_is_told_a_time_of_its_own():
    gate = PushGate(admitted=2)
    assert [gate.admit(), gate.admit()] == [None, None]

    waits = {busy.retry_after_s for _ in range(200) if (busy := gate.admit())}

    assert min(waits) >= 5
    assert max(waits) <= 60
    assert len(waits) > 20


def test_the_answer_is_503_with_retry_after():
    gate = PushGate(admitted=0)
    busy = gate.admit()

    problem = problem_of(busy)

    assert problem.status == 503
    assert problem.headers["Retry-After"] == str(busy.retry_after_s)


def test_a_place_that_is_left_is_free_again():
    gate = PushGate(admitted=1)
    assert gate.admit() is None
    assert gate.admit() is not None

    gate.leave()

    assert gate.admit() is None
