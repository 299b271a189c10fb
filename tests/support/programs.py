"""Programs of the machine, and packages of other registries, that tests run: looked up, never installed."""

from functools import cache

import pytest
from tools.programs import find, reason


@cache
def _place(name: str) -> str | None:
    return find(name)


def program(name: str) -> str:
    """Where `chromium`, `java` or `nginx` is; a test is skipped that cannot have it."""
    place = _place(name)
    if place is None:
        pytest.skip(reason(name))
    return place


def needs(name: str) -> pytest.MarkDecorator:
    """Mark tests that are skipped without it."""
    return pytest.mark.skipif(_place(name) is None, reason=reason(name))
