"""The days of the past that the demonstration network fills at its first start, set by a test.

Three of them take half a minute of a core, next to what the test waits for.
"""

import importlib
import os

VARIABLE = "TEST_DEMO_DAYS"


def install() -> None:
    """Let this process's network have the past that the test says."""
    if VARIABLE in os.environ:
        live = importlib.import_module("mudra.demo.live")
        setattr(live, "FIRST_DAYS", float(os.environ[VARIABLE]))  # noqa: B010  # a Final there
