"""Every number of an incident in many random situations, wherever it is read, against a recount.

    python -m bench.truth_recount [UP_TO] [FROM]

The suite plays one of them (tests/http/health/test_recount.py), and some in `make test-slow`; this
plays 300, or those from one number on.
"""

import os
import sys

import pytest
from tests.support.metrics.recounted import SITUATIONS

from bench.sizes import argument


def main() -> int:
    """Returns the exit code of pytest: 0 when no number differs."""
    os.environ[SITUATIONS] = f"{int(argument(2, 0, 0))} {int(argument(1, 300, 1))}"
    return int(pytest.main(["-q", "-s", "tests/http/health/test_recount.py"]))


if __name__ == "__main__":
    sys.exit(main())
