"""Mudra has a name of its own on an index, and says of itself what the lock keeps."""

import json
import re
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path
from typing import Any, Final

import pytest
from packaging.requirements import Requirement
from packaging.tags import Tag, compatible_tags, cpython_tags, parse_tag

ROOT: Final = Path(__file__).parents[3]
UV: Final = Path(sys.executable).with_name("uv")
PROJECT: Final = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PYTHONS: Final = [
    int(found[1])
    for one in PROJECT["classifiers"]
    if (found := re.fullmatch(r"Programming Language :: Python :: 3\.(\d+)", one))
]
# As a command of an installer, or as a requirement: `mudra` there is another project's.
STRANGER: Final = re.compile(
    r"\b(?:pip|pipx|uv|uvx|poetry|conda)\b[^\n]*[\s'\"`]mudra(?![\w./-])|(?<![\w-])mudra\[[a-z,]+\]"
)


def exported(*options: str) -> str:
    """What the lock keeps of all extras."""
    command = [UV, "export", "--quiet", "--frozen", "--no-dev", "--all-extras", *options]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def test_nothing_says_to_install_a_package_of_somebody_else() -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "*.md", "*.py", "*.toml", "*.html", "*.j2", "*.po", "*.sh", "*.yaml",
         "Makefile", "deploy", "src", ":!tests", ":!uv.lock"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout.splitlines()  # fmt: skip
    wrong = [
        (name, found[0])
        for name in tracked
        if (file := ROOT / name).is_file()
        for found in STRANGER.finditer(file.read_bytes().decode(errors="replace"))
    ]

    assert len(tracked) > 1000
    assert wrong == []
    for line in ("`pip install mudra`", "pip install 'mudra[agent]'", "mudra[server,tracing]"):
        assert STRANGER.search(line), line
    for line in ("pip install 'mudra-network[cli]'", "pip install ./mudra_network-1.0.0.whl"):
        assert not STRANGER.search(line), line


def test_the_list_of_parts_names_it_as_an_index_would() -> None:
    parts = json.loads(exported("--format", "cyclonedx1.5"))

    assert PROJECT["name"] == "mudra-network"
    assert parts["metadata"]["component"]["name"] == PROJECT["name"]


@pytest.mark.parametrize("minor", PYTHONS)
def test_each_python_that_it_names_has_a_locked_wheel_of_every_part(minor: int) -> None:
    environment = {
        "python_version": f"3.{minor}",
        "python_full_version": f"3.{minor}.0" if minor > 11 else "3.11.2",
        "sys_platform": "linux",
        "platform_machine": "x86_64",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
    }
    wanted = {
        (one.name, str(one.specifier).lstrip("="))
        for line in exported("--no-hashes", "--no-annotate", "--no-emit-project").splitlines()
        if line and not line.startswith("#")
        for one in [Requirement(line)]
        if one.marker is None or one.marker.evaluate(environment)
    }
    tags = set(tags_of(minor))
    locked: list[dict[str, Any]] = tomllib.loads((ROOT / "uv.lock").read_text())["package"]
    wheels = {
        (one["name"], one.get("version")): [w["url"].rpartition("/")[2] for w in one["wheels"]]
        for one in locked
        if "wheels" in one
    }

    assert len(wanted) > 50
    assert [one for one in wanted if not any(tags & tags_in(file) for file in wheels[one])] == []


def tags_of(minor: int) -> "chain[Tag]":
    """What a Python of Debian 12 or later takes."""
    platforms = [f"manylinux_2_{glibc}_x86_64" for glibc in range(5, 37)] + ["manylinux2014_x86_64"]
    return chain(
        cpython_tags((3, minor), platforms=platforms),
        compatible_tags((3, minor), f"cp3{minor}", platforms),
    )


def tags_in(wheel: str) -> frozenset[Tag]:
    """What a wheel is for, by its name."""
    return parse_tag("-".join(wheel.removesuffix(".whl").split("-")[-3:]))
