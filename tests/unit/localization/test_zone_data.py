"""Zones of time where the machine has none, as a slim image: those of the package tzdata."""

import os
import subprocess
import sys

from tests.support.until import PATIENCE_S

_LOOK = """
from datetime import UTC, datetime
from mudra.localization.display_zone import zone_named, zone_of
january = datetime(2026, 1, 31, 20, tzinfo=UTC)
print(zone_of("ist", "UTC").local(january), zone_named("Europe/Berlin").abbreviation(january))
"""


def test_a_machine_without_zone_data_writes_times_of_india_and_of_a_reader() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _LOOK],
        env={**os.environ, "PYTHONTZPATH": ""},  # where Python looks on a machine
        capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip

    assert done.stdout == "2026-02-01T01:30 CET\n", done.stderr
