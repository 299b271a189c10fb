"""The parts that routes work with, perhaps built in a process before the one that serves them."""

from typing import Generic, TypeVar

T = TypeVar("T")


class Given(Generic[T]):
    """A place for what handlers work with: empty while routes are built, filled once to serve."""

    def __init__(self) -> None:
        self._value: T | None = None

    def give(self, value: T) -> None:
        """Fill it; the routes serve one application alone."""
        assert self._value is None, "these routes serve another application"
        self._value = value

    def take_back(self) -> None:
        """Empty it once the application has ended: another may be served."""
        self._value = None

    def get(self) -> T:
        """Return what was given; no route may ask for it while it is built."""
        assert self._value is not None, "asked for before it was given"
        return self._value
