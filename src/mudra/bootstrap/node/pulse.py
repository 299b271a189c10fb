"""What a worker does again and again, in one turn: so it wakes once a second while no one asks.

Waking costs more than what is done then. In 24 workers six timers each were 2 % of a core.
"""

import asyncio
from collections.abc import Callable
from typing import Final, Protocol

from mudra.bootstrap.node.graceful_stop import StoppingServer

USED_S: Final = 0.5
UNUSED_S: Final = 1.0
"""No longer: the first request after a rest gets the Date header of the last turn."""


class Gathering(Protocol):
    """What collects in memory, and is to be brought on."""

    def flush(self) -> None:
        """Bring it on."""


async def pulse(server: StoppingServer, beat: Callable[[], None], *gathering: Gathering) -> None:
    """Beat, keep the Date header right and flush, until cancelled."""
    while True:
        beat()
        await server.on_tick(0)
        for one in gathering:
            one.flush()
        await asyncio.sleep(USED_S if server.server_state.connections else UNUSED_S)
