"""The table of clients is true: each version is the locked one, each test is there."""

import ast
import json
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
NODE = TESTS / "conformance" / "node"
PAGE = (ROOT / "docs" / "reference" / "clients.md").read_text()
ROW = re.compile(r"^\| (.+?) \| (.+?) \| (.+?) \| `(\S+)::(\w+)` \|$", re.MULTILINE)
OF_THE_MACHINE = {"curl": "the machine's", "Java, JDK alone": "17", "Go, standard library": "1.19"}
"""Debian 12's, which tools/programs.py installs."""
NO_CLIENTS = {"@grafana/schema"}
"""What describes dashboards calls no service."""


def locked() -> dict[str, set[str]]:
    """Versions by name in all lock files, names in small letters."""
    found: dict[str, set[str]] = {}
    node = json.loads((NODE / "package-lock.json").read_text())["packages"]
    pairs = [
        (name.removeprefix("node_modules/"), one["version"]) for name, one in node.items() if name
    ]
    python = tomllib.loads((ROOT / "uv.lock").read_text())["package"]
    pairs += [(one["name"], one["version"]) for one in python if "version" in one]
    for lock in ("frameworks", "generator"):
        text = (TESTS / "conformance" / lock / "requirements.txt").read_text()
        pairs += re.findall(r"^([a-z0-9-]+)==([^\s;]+)", text, re.MULTILINE)
    for name, version in pairs:
        found.setdefault(name.lower(), set()).add(version)
    return found


def test_each_client_of_the_table_has_its_locked_version() -> None:
    versions = locked() | {name.lower(): {one} for name, one in OF_THE_MACHINE.items()}

    assert [
        (client, version)
        for client, version, *_ in ROW.findall(PAGE)
        if version not in versions.get(client.lower(), set())
    ] == []


def test_each_test_of_the_table_is_there() -> None:
    rows = ROW.findall(PAGE)
    named = [(file, name) for *_, file, name in rows]
    named += re.findall(r"`([\w/]+\.py)::(\w+)`", PAGE)

    for file, name in named:
        tree = ast.parse((TESTS / file).read_text())
        assert name in {one.name for one in tree.body if isinstance(one, ast.FunctionDef)}, name
    assert len(rows) > 15


def test_no_package_that_the_tests_run_is_left_out() -> None:
    packages = json.loads((NODE / "package.json").read_text())["dependencies"]

    assert packages.keys() - NO_CLIENTS <= {client for client, *_ in ROW.findall(PAGE)}
