"""What all readers get of the network's health, made once and in a thread (decision 0137)."""

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

from msgspec import Struct

from mudra.http.response.entity_tag import entity_tag
from mudra.metrics.health.health_service import NetworkHealth
from mudra.shared.shared_read import SharedRead

T = TypeVar("T")


class OpenFile(Struct, frozen=True):
    """A finished body with its tag, shared by all answers that carry it."""

    body: bytes
    tag: str


def open_file(body: bytes) -> OpenFile:
    """Return a body with its tag."""
    return OpenFile(body, entity_tag(body))


class MadeOfHealth(Generic[T]):
    """One thing made of the network's health, kept until the health is another.

    `make` gets the health, and whether its reports are recent enough to know a status; it runs
    in a thread. Health is compared by identity: it is megabytes, and a cache gives one to all.
    """

    def __init__(self, make: Callable[[NetworkHealth, bool], T]) -> None:
        self._make = make
        self._making = SharedRead()
        self._made: tuple[NetworkHealth, bool, T] | None = None

    async def get(self, health: NetworkHealth, *, current: bool) -> T:
        """Return what is made of this health; who asks meanwhile waits for the same."""
        async with self._making.turn():
            made = self._made
            if made is None or made[0] is not health or made[1] is not current:
                value = await asyncio.to_thread(self._make, health, current)
                self._made = made = health, current, value
            return made[2]
