"""Addresses that lead to the primary of a PostgreSQL cluster only."""

from psycopg.conninfo import conninfo_to_dict, make_conninfo


def of_primary(conninfo: str) -> str:
    """Refuse sessions on a standby: what it says may be outdated, and it takes no changes."""
    given = conninfo_to_dict(conninfo)
    return make_conninfo(conninfo, **{"target_session_attrs": "primary"} | given)
