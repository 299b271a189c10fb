"""The programs that dump and restore, and the environment in which they reach a server by TLS.

Those of the wheel are built without TLS. The library by which they connect, libpq, is in psycopg's
wheel too, with TLS: it is loaded before their own, so that they connect just as the nodes do.
"""

import os
from pathlib import Path
from typing import Final

import psycopg
from psycopg import pq

from mudra.shared.child_environment import without_settings
from mudra.storage.database.embedded.programs import CLIENTS, MAJOR_VERSION, of_the_wheel, programs
from mudra.storage.database.embedded.programs import SETTING as OWN_PROGRAMS

_NAME: Final = "mudra backup"
_PRELOAD: Final = "LD_PRELOAD"
_LIBRARIES: Final = "psycopg_binary.libs"
_NO_TLS: Final = "SSL support is not compiled in"


def client_programs() -> Path:
    """Return the folder of pg_dump, pg_restore and psql; raises EmbeddedServerError."""
    return programs(CLIENTS)


def environment(found: Path | None, password: str = "") -> dict[str, str]:
    """Return what programs of this folder run in, or one that starts them in turn.

    The password is part of it: arguments can be read by every user of the machine.
    """
    variables = {**without_settings(os.environ), "PGAPPNAME": _NAME}
    if password:
        variables["PGPASSWORD"] = password
    library = _with_tls() if found is not None and found == of_the_wheel() else None
    if library is not None:
        before = os.environ.get(_PRELOAD)
        variables[_PRELOAD] = f"{library}:{before}" if before else str(library)
    return variables


def encrypted_as(connection: psycopg.Connection[tuple[object, ...]]) -> dict[str, str]:
    """Return the parameters by which no other session is less encrypted than this one."""
    mode = next((one.val for one in connection.pgconn.info if one.keyword == b"sslmode"), b"")
    may_be_clear = mode in {b"allow", b"prefer"} and connection.pgconn.ssl_in_use
    return {"sslmode": "require"} if may_be_clear else {}


def way_out(said: str) -> str:
    """Return what to do about what a program said on its end; "" where it says so itself."""
    if _NO_TLS not in said:
        return ""
    return (
        f": set {OWN_PROGRAMS} to the folder of programs that know TLS, as those of Debian's "
        f"package postgresql-client-{MAJOR_VERSION}"
    )


def _with_tls() -> Path | None:
    if pq.__impl__ != "binary":
        return None
    folder = Path(psycopg.__file__).parents[1] / _LIBRARIES
    return next(folder.glob("libpq-*.so*"), None)
