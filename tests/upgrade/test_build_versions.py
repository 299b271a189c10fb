"""Each build says what it is: its version is newer with each commit, and never that of another."""

import json
import re
import subprocess
import tomllib
from pathlib import Path

import httpx2
import psycopg
import pytest
from packaging.version import Version
from tests.support.agent.agent_process import free_port
from tests.support.http_clients import NO_TLS
from tests.support.process import running_service
from tests.support.service import Service
from tests.upgrade.test_schema import RELEASED, RELEASED_HEAD

from mudra.shared.build_version import RELEASE, version, version_of, version_to_build
from mudra.storage.database.embedded.server import embedded_server
from mudra.storage.database.schema.migrate import HEAD

ROOT = Path(__file__).parents[2]
GIT = ("git", "-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")


def git(folder: Path, *words: str) -> str:
    done = subprocess.run([*GIT, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(folder: Path, text: str) -> str:
    """Commit a file with this text; gives the version then."""
    (folder / "file").write_text(text)
    git(folder, "add", "file")
    git(folder, "commit", "--quiet", "--message", text)
    return version_of(folder)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    folder.mkdir()
    git(folder, "init", "--quiet")
    return folder


def test_a_later_commit_is_a_newer_version_before_the_release(checkout: Path) -> None:
    first, second = commit(checkout, "a"), commit(checkout, "b")

    assert re.fullmatch(rf"{re.escape(RELEASE)}\.dev1\+g[0-9a-f]{{8}}", first)
    assert second.endswith(git(checkout, "rev-parse", "--short=8", "HEAD"))
    assert Version(first) < Version(second) < Version(RELEASE)


def test_what_was_changed_since_is_another_version(checkout: Path) -> None:
    version = commit(checkout, "a")
    (checkout / "file").write_text("other")

    assert version_of(checkout) == f"{version}.dirty"


def test_only_the_tagged_commit_itself_is_the_release(checkout: Path) -> None:
    commit(checkout, "a")
    git(checkout, "tag", f"v{RELEASE}")
    released = version_of(checkout)
    (checkout / "file").write_text("other")
    changed = version_of(checkout)

    assert released == RELEASE
    assert changed.endswith(".dirty")
    assert ".dev2+" in commit(checkout, "b")


def test_a_clone_without_history_names_its_commit_alone(checkout: Path, tmp_path: Path) -> None:
    commit(checkout, "a")
    name = commit(checkout, "b").partition("+")[2]
    git(tmp_path, "clone", "--quiet", "--depth", "1", checkout.as_uri(), "shallow")

    assert version_of(tmp_path / "shallow") == f"{RELEASE}.dev0+{name}"


@pytest.mark.parametrize("state", ["no git", "no commit", "no program"])
def test_what_cannot_be_known_is_said(
    checkout: Path, tmp_path: Path, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also inside of another checkout, whose commit it would not be."""
    folder = {"no git": checkout / "inner", "no commit": checkout, "no program": checkout}[state]
    if state == "no git":
        commit(checkout, "a")
        folder.mkdir()
    if state == "no program":
        commit(checkout, "a")
        monkeypatch.setenv("PATH", str(tmp_path))

    assert version_of(folder) == f"{RELEASE}.dev0+unknown"


def test_a_build_without_git_is_reported_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """As an image is, whose build has the files alone."""
    monkeypatch.setenv("MUDRA_BUILD_VERSION", "1.1.0.dev7+g0a1b2c3d")

    assert version_to_build() == "1.1.0.dev7+g0a1b2c3d"


def test_no_version_is_that_of_two_schemas() -> None:
    """Of a development version the number counts commits; a released one keeps its schema."""
    for file, head in zip(RELEASED, RELEASED_HEAD, strict=True):
        assert Version(file.stem) < Version(RELEASE) or (file.stem, head) == (RELEASE, HEAD)


def test_charts_and_documents_name_the_release_that_comes() -> None:
    for chart in ROOT.glob("deploy/helm/*/Chart.yaml"):
        assert f'appVersion: "{RELEASE}"' in chart.read_text()
    assert f"/opt/mudra-{RELEASE}\n" in (ROOT / "docs/operations/running.md").read_text()


def test_nothing_else_says_which_build_it_is() -> None:
    """One file asks git or the installed package; what was installed before is not asked twice."""
    said = {str(file.relative_to(ROOT)) for file in ROOT.glob("src/**/*.py") if _asks(file)}

    assert said == {"src/mudra/shared/build_version.py"}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["hatch"]["version"]["path"] in said


def _asks(file: Path) -> bool:
    return bool(re.search(r"importlib(?:\.| import )metadata|__version__", file.read_text()))


def test_a_node_says_which_build_it_is(tmp_path: Path) -> None:
    port = free_port()
    with running_service(tmp_path / "data", MUDRA_TELEMETRY_PORT=str(port)) as service:
        live = httpx2.get(f"{service.root}/livez", verify=NO_TLS).json()
        figures = httpx2.get(f"http://127.0.0.1:{port}/metrics", verify=NO_TLS).text
        asked = service.cli("--version").stdout
        expected = {"version": version(), "schema": HEAD, "postgresql": _postgresql(service)}

    assert (live["version"], asked) == (version(), f"mudra {version()}\n")
    (line,) = re.findall(r"^mudra_build_info\{(.*)\} 1\.0$", figures, re.MULTILINE)
    assert dict(re.findall(r'(\w+)="([^"]*)"', line)) == expected
    log = map(json.loads, (service.data_dir / "mudra.log").read_text().splitlines())
    (start,) = [one for one in log if one["event"] == "node starts"]
    assert start.items() >= expected.items()


def _postgresql(service: Service) -> str:
    with (
        embedded_server(service.data_dir) as conninfo,
        psycopg.connect(conninfo) as connection,
    ):
        (found,) = connection.execute("SHOW server_version").fetchone()
    return found.split()[0]
