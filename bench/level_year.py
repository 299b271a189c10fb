"""A year of reports of service levels through the service, each number against a recount.

    python -m bench.level_year [MONTHS]

Each month has faults, maintenance, late reports, a lie and disputes of which the truth is known.
The suite plays one month (tests/http/health/test_year_of_levels.py), this one twelve, and prints
a line for each.
"""

import os
import sys

import pytest
from tests.http.health.test_year_of_levels import MONTHS

from bench.sizes import argument


def main() -> int:
    """Returns the exit code of pytest: 0 when no number differs."""
    os.environ[MONTHS] = str(int(argument(1, 12, 1)))
    return int(pytest.main(["-q", "-s", "-m", "slow", "tests/http/health/test_year_of_levels.py"]))


if __name__ == "__main__":
    sys.exit(main())
