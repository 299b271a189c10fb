"""A real agent process whose time runs faster: for crash tests that need many windows.

python -m tests.support.fast_agent CONFIG ANCHOR SPEED
"""

import asyncio
import random
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from mudra.agent.assembly import assemble
from mudra.agent.config import read_config
from mudra.agent.run import run_agent
from tests.support.moved_time import START


class FastClock:
    """The same moved time in every process that has the same anchor."""

    boot = "fast"

    def __init__(self, anchor: float, speed: float) -> None:
        self._anchor, self._speed = anchor, speed

    def wall(self) -> int:
        return START + int((time.time() - self._anchor) * self._speed * 1000)

    monotonic = wall

    def datetime(self) -> datetime:
        return datetime.fromtimestamp(self.wall() / 1000, UTC)


def main() -> None:
    config, anchor, speed = Path(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
    agent = assemble(
        read_config(config),
        FastClock(anchor, speed),
        random.uniform,
        lambda text: print(text, file=sys.stderr),
    )
    sys.exit(asyncio.run(run_agent(agent)))


if __name__ == "__main__":
    main()
