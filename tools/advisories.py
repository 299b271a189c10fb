"""Asks OSV which packages of our lock files have a known vulnerability.

    python -m tools.advisories [--osv URL]

The exit code is 0 where none is known, 1 where some are, one a line, and 3 where OSV could not be
asked. What a package brings along in compiled form no lock file names: that is the table of
docs/security/bundled-parts.md.
"""

import argparse
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import httpx2
import msgspec
from msgspec import Struct

ROOT: Final = Path(__file__).parents[1]
_OSV: Final = "https://api.osv.dev"
_PAGE: Final = "https://osv.dev/vulnerability/"
_AT_ONCE: Final = 1000
"""OSV takes no more in one request."""
_PINNED: Final = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", re.MULTILINE)
FOUND: Final = 1
NOT_ASKED: Final = 3


class Locked(Struct, frozen=True, order=True):
    """A package as a lock file names it."""

    ecosystem: str
    name: str
    version: str


class _Vulnerability(Struct):
    id: str


class _Result(Struct):
    vulns: list[_Vulnerability] = []


class _Answer(Struct):
    results: list[_Result]


def lock_files() -> Sequence[Path]:
    """Returns all files under version control that name packages with versions and hashes."""
    patterns = ("*uv.lock", "*package-lock.json", "*requirements.txt", "*uv.txt")
    listed = subprocess.run(
        ["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [ROOT / line for line in listed.stdout.splitlines()]


def locked_in(file: Path) -> Iterator[Locked]:
    """Yields the packages of a lock file, but for our own."""
    text = file.read_text()
    if file.suffix == ".lock":
        for one in tomllib.loads(text)["package"]:
            if "registry" in one["source"]:
                yield Locked("PyPI", one["name"], one["version"])
    elif file.suffix == ".json":
        for path, one in json.loads(text)["packages"].items():
            if path:
                name = one.get("name", path.rpartition("node_modules/")[2])
                yield Locked("npm", name, one["version"])
    else:
        yield from (Locked("PyPI", name, version) for name, version in _PINNED.findall(text))


def advisories(packages: Sequence[Locked], osv: str) -> Iterator[tuple[Locked, str]]:
    """Yields each package with the identifier of an advisory; raises httpx2.HTTPError."""
    with httpx2.Client(base_url=osv, timeout=30) as http:
        for first in range(0, len(packages), _AT_ONCE):
            some = packages[first : first + _AT_ONCE]
            queries = [
                {"package": {"name": one.name, "ecosystem": one.ecosystem}, "version": one.version}
                for one in some
            ]
            answer = http.post("/v1/querybatch", json={"queries": queries}).raise_for_status()
            results = msgspec.json.decode(answer.content, type=_Answer).results
            for package, result in zip(some, results, strict=True):
                yield from ((package, one.id) for one in result.vulns)


def main(arguments: Sequence[str]) -> int:
    """Prints what is known; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.advisories", description=__doc__)
    parser.add_argument("--osv", default=_OSV, help="address of OSV or of a mirror")
    osv = parser.parse_args(arguments).osv
    places: dict[Locked, list[str]] = {}
    for file in lock_files():
        for package in locked_in(file):
            places.setdefault(package, []).append(str(file.relative_to(ROOT)))
    try:
        found = list(advisories(sorted(places), osv))
    except (httpx2.HTTPError, msgspec.DecodeError, ValueError) as error:
        print(
            f"nothing was checked: {osv} cannot be asked ({type(error).__name__}); run it where"
            " the network allows that, or name a mirror with --osv"
        )
        return NOT_ASKED
    for package, advisory in found:
        where = ", ".join(dict.fromkeys(places[package]))
        print(f"{package.name} {package.version}: {_PAGE}{advisory} ({where})")
    print(f"{len(places)} packages of {len(lock_files())} lock files, {len(found)} advisories")
    return FOUND if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
