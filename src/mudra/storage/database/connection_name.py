"""Names this process's connections, for `pg_stat_activity` and PostgreSQL's log."""

import os
from typing import Final

VARIABLE: Final = "PGAPPNAME"
"""Libpq's; an `application_name` in the address goes before it."""


def name_connections(part: str) -> None:
    """Name connections that are opened from now on, such as `mudra worker-0`."""
    os.environ[VARIABLE] = f"mudra {part}".strip()
