"""Many acts of one command: each in a transaction of its own, so that what is done stays done."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from msgspec import Struct
from rich.progress import track

from mudra.cli.local.program import Dependencies
from mudra.cli.output.output import console
from mudra.shared.unavailable import DatabaseUnavailable
from mudra.unit_of_work import UnitOfWork

T = TypeVar("T")


class Ran(Struct, Generic[T], frozen=True):
    """What became of each; the others were not begun where the database went away."""

    outcomes: Sequence[T]
    interrupted: bool = False


async def run_one_by_one(
    dependencies: Dependencies,
    planned: Sequence[T],
    act: Callable[[UnitOfWork, T], Awaitable[T]],
    label: str,
    *,
    quiet: bool,
) -> Ran[T]:
    """Act on each in turn, and show how far it is unless `quiet`."""
    outcomes: list[T] = []
    for one in track(planned, label, console=console, disable=quiet):
        try:
            async with dependencies.unit_of_work() as work:
                outcomes.append(await act(work, one))
        except DatabaseUnavailable:
            return Ran(outcomes, interrupted=True)
    return Ran(outcomes)
