"""What a child of the supervisor does when the supervisor is gone, however it went."""

import asyncio
import signal
from collections.abc import Callable

from mudra.bootstrap.node.supervisor import STOP_S


def on_parent_exit(parent_pipe: int, then: Callable[[], None], *, within_s: float = STOP_S) -> None:
    """Call `then` once, in the running loop, when the pipe that the supervisor holds has closed.

    A process that has not ended `within_s` seconds later is ended by SIGALRM, as the supervisor
    would have done: what is left of a killed node keeps the data directory from the next one.
    """
    loop = asyncio.get_running_loop()

    def cut() -> None:
        # A pipe at its end stays readable: left in the loop, it would keep it busy for nothing.
        loop.remove_reader(parent_pipe)
        signal.setitimer(signal.ITIMER_REAL, within_s)
        then()

    loop.add_reader(parent_pipe, cut)
