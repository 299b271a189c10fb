"""The depth of a test: a little with every change, deep before a release."""

import os
import time
from collections.abc import Container, Iterable, Sequence
from typing import Any, Final, TypeVar

import pytest

T = TypeVar("T")

DEEP: Final = os.environ.get("TEST_DEEP", "") == "1"
"""Set by `make test-slow`, which runs every search, and what is marked `deeper`, again."""
_MORE: Final = 25
_PARTS: Final = 5
DAY: Final = int(os.environ.get("TEST_DAY") or time.time() // 86_400)
"""Which part of long tables runs: each has its day. A run shows its number, and repeats with it."""
USUAL: Final = 20
"""Examples of a search that names no number."""


def part(values: Sequence[T], turn: int) -> Sequence[T]:
    """Return a fifth of the values with every change, another one each turn and day; deep all."""
    return values if DEEP else values[(turn + DAY) % _PARTS :: _PARTS]


def is_due(number: int) -> bool:
    """Say whether this one of many, which show the same, is in the part of this day."""
    return DEEP or (number + DAY) % _PARTS == 0


def in_turn(number: int) -> pytest.MarkDecorator:
    """Mark a test as one of several that show the same: it runs each fifth day, and deep."""
    return pytest.mark.deeper if is_due(number) else pytest.mark.slow


def with_every_change(kept: Container[Any], values: Iterable[Any]) -> list[Any]:
    """Return parameters of a test, of which those that are not `kept` are left to `make test-slow`.

    For what shows the same of each of many: one of them shows it with every change.
    """
    return [
        one if one in kept else pytest.param(*_arguments(one), marks=pytest.mark.slow)
        for one in values
    ]


def _arguments(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def examples(few: int) -> int:
    """Return how many examples a search takes, of which `few` suffice for every change."""
    return few * _MORE if DEEP else few
