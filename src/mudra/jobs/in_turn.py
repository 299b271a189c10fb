"""Work that is large in a nation, one at a time: windows, sums, recounts, reports of a month."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Generic, Protocol, TypeVar

from mudra.storage.database.deadline import TRANSACTION_S

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Opens(Protocol[T_co]):
    """Opens a transaction."""

    def __call__(self, *, within_s: float) -> AbstractAsyncContextManager[T_co]:
        """Opens one that is aborted after so many seconds."""
        ...


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
