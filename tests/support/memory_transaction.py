"""A transaction of a test that has no database."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypeVar, cast

T = TypeVar("T")


class _NoRows:
    """A result without a row."""

    async def execute(self, *_: object) -> Any:
        return self

    def mappings(self) -> list[Any]:
        return []


class MemoryTransaction:
    """Has a time, the use cases that a test gives, and tables without a row."""

    connection = _NoRows()

    def __init__(self, now: datetime, use_cases: Mapping[type, object]) -> None:
        self._now = now
        self._use_cases = use_cases

    async def now(self) -> datetime:
        return self._now

    def service(self, kind: type[T]) -> T:
        return cast("T", self._use_cases[kind])
