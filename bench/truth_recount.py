"""Every number of an incident in many random situations, wherever it is read, against a recount.

    python -m bench.truth_recount [SITUATIONS]

The suite plays two of them (tests/http/health/test_recount.py), and fifty in `make test-slow`; this
plays 300, in 40 minutes.
"""

import os
import sys

import pytest
from tests.http.health.test_recount import SITUATIONS

from bench.sizes import argument


def main() -> int:
    """Returns the exit code of pytest: 0 when no number differs."""
    os.environ[SITUATIONS] = str(int(argument(1, 300, 1)))
    return int(pytest.main(["-q", "tests/http/health/test_recount.py"]))


if __name__ == "__main__":
    sys.exit(main())
