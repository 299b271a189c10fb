"""The release of PostgreSQL that a server has, and which one it should be at least."""

import re
from collections.abc import Mapping
from datetime import date
from typing import Final

import psycopg

RELEASED: Final = date(2026, 8, 13)
"""Of the releases below. They fix 28 vulnerabilities, among them one of pg_dump."""
LEAST: Final[Mapping[int, int]] = {15: 19, 16: 15, 17: 11, 18: 6}
"""By major version the minor one: raised with a release of Mudra, when PostgreSQL fixes more."""
_NUMBERS: Final = re.compile(r"(\d+)(?:\.(\d+))?")


def server_version(connection: psycopg.Connection[tuple[object, ...]]) -> str:
    """Return the version that a server reported when this session began, such as `18.6`.

    What a distribution adds to it is left out; a test release is named whole (`19beta1`).
    """
    reported = connection.info.parameter_status("server_version") or ""
    return reported.partition(" ")[0]


def lacking(version: str) -> str | None:
    """Return the release of the same major version that this one lacks fixes of, if any."""
    found = _NUMBERS.match(version)
    major, minor = (int(found[1]), int(found[2] or 0)) if found else (0, 0)
    least = LEAST.get(major, 0)
    return f"{major}.{least}" if minor < least else None
