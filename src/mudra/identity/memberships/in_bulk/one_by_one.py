"""Many acts in one request: each in a transaction of its own, for as long as a request may take."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Final, Protocol, Self, TypeVar

from mudra.storage.database.transaction import OpenTransaction, Transaction

REQUEST_S: Final = 20.0
"""A request begins acts for so long, in seconds: proxies wait for an answer for a minute."""


class Planned(Protocol):
    """The outcome for one of many, by its preview."""

    @property
    def is_ready(self) -> bool:
        """Return whether the act can be done."""

    def left(self) -> Self:
        """Return that it was not begun in the time of the request."""


P = TypeVar("P", bound=Planned)


async def act_one_by_one(
    open_transaction: OpenTransaction,
    planned: Iterable[P],
    act: Callable[[Transaction, P], Awaitable[P]],
    has_time: Callable[[], bool],
) -> Sequence[P]:
    """Act on each that is ready while there is time; the others stay as they are, or are left."""
    outcomes: list[P] = []
    for one in planned:
        if not one.is_ready:
            outcomes.append(one)
        elif not has_time():
            outcomes.append(one.left())
        else:
            async with open_transaction() as tx:
                outcomes.append(await act(tx, one))
    return outcomes
