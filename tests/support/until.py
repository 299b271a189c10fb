"""Waiting for a condition, with an end: what a test asks for comes, or the test is red."""

import time
from collections.abc import Callable
from typing import Final, TypeVar

T = TypeVar("T")

PATIENCE_S: Final = 180.0
"""How long a test waits for anything: a machine that does much else is slow, and that is no fault.

One that comes costs no more for it. Less is right only where the time itself is the promise.
"""
_OFTEN_S, _RARELY_S = 0.02, 0.25


def until(
    question: Callable[[], T],
    show: Callable[[], object] | None = None,
    *,
    within_s: float = PATIENCE_S,
    every_s: float | None = None,
) -> T:
    """Ask until the answer is true and give it; fail with what `show` gives, or the last answer.

    It is asked ever more rarely, since to ask takes the time that the service needs, unless
    `every_s` says how often.
    """
    began = time.monotonic()
    while True:
        answer = question()
        if answer:
            return answer
        waited = time.monotonic() - began
        assert waited < within_s, f"waited {within_s} s in vain: {show() if show else answer!r}"
        time.sleep(every_s or min(_RARELY_S, _OFTEN_S + waited / 10))
