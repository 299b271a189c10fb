"""Threads that call a service from the beginning of a block to its end."""

import threading
from collections.abc import Callable, Sequence
from typing import Self

from tests.support.until import PATIENCE_S


class SideBySide:
    """Runs what a subclass gives in `work`, each in a thread of its own, until the block ends.

    Work looks at `over`, and a thread that has not ended long after is a failure.
    """

    def __init__(self, work: Sequence[Callable[[], None]]) -> None:
        self.over = threading.Event()
        self._threads = [threading.Thread(target=one) for one in work]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        for thread in self._threads:
            thread.join(PATIENCE_S)
            assert not thread.is_alive()
