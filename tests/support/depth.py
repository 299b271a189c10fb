"""The depth of a test: a little with every change, deep before a release."""

import os
from typing import Final

DEEP: Final = os.environ.get("TEST_DEEP", "") == "1"
"""Set by `make test-slow`, which runs every search, and what is marked `deeper`, again."""
_MORE: Final = 25
USUAL: Final = 20
"""Examples of a search that names no number."""


def examples(few: int) -> int:
    """Return how many examples a search takes, of which `few` suffice for every change."""
    return few * _MORE if DEEP else few
