"""Waiting for a condition, with an end: what a test asks for comes, or the test is red."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def until(question: Callable[[], T], wait_s: float = 20.0, *, every_s: float = 0.02) -> T:
    """Asks until the answer is true and gives it; fails with the last answer after `wait_s`."""
    deadline = time.monotonic() + wait_s
    while True:
        answer = question()
        if answer:
            return answer
        assert time.monotonic() < deadline, f"after {wait_s} s the answer is still {answer!r}"
        time.sleep(every_s)
