"""Work that is large in a nation, one at a time: windows, sums, recounts, reports of a month."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Generic, TypeVar

from mudra.storage.database.deadline import TRANSACTION_S
from mudra.storage.database.transaction import Opens

T = TypeVar("T")


class InTurn(Generic[T]):
    """Opens the same transactions, one at a time among all that share a turn.

    Those that wait have none yet, and take turns in the order in which they came.
    """

    def __init__(self, open_one: Opens[T], turn: asyncio.Lock) -> None:
        self._open, self._turn = open_one, turn

    @asynccontextmanager
    async def __call__(self, *, within_s: float = TRANSACTION_S) -> AsyncIterator[T]:
        """Opens one once no other is open."""
        async with self._turn, self._open(within_s=within_s) as opened:
            yield opened
