"""What a child of the supervisor does when the supervisor is gone, however it went."""

import asyncio
from collections.abc import Callable


def on_parent_exit(parent_pipe: int, then: Callable[[], None]) -> None:
    """Call `then` once, in the running loop, when the pipe that the supervisor holds has closed."""
    loop = asyncio.get_running_loop()

    def cut() -> None:
        # A pipe at its end stays readable: left in the loop, it would keep it busy for nothing.
        loop.remove_reader(parent_pipe)
        then()

    loop.add_reader(parent_pipe, cut)
