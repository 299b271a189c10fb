"""A real agent process whose time runs faster: for crash tests that need many windows.

python -m tests.support.agent.fast_agent CONFIG ANCHOR SPEED START
"""

import asyncio
import random
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from tests.support.manual_clock import START

from mudra.agent.host.assembly import assemble
from mudra.agent.host.config import read_config
from mudra.agent.host.run import run_agent


class FastClock:
    """The same moved time in every process that has the same anchor."""

    boot = "fast"

    def __init__(self, anchor: float, speed: float, start: int = START) -> None:
        self._anchor, self._speed, self._start = anchor, speed, start

    def wall(self) -> int:
        return self._start + int((time.time() - self._anchor) * self._speed * 1000)

    monotonic = wall

    def datetime(self) -> datetime:
        return datetime.fromtimestamp(self.wall() / 1000, UTC)


def main() -> None:
    config, anchor, speed = Path(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
    start = int(sys.argv[4])
    agent = assemble(
        read_config(config),
        FastClock(anchor, speed, start),
        random.uniform,
        lambda text: print(text, file=sys.stderr),
    )
    sys.exit(asyncio.run(run_agent(agent)))


if __name__ == "__main__":
    main()
