"""What tests need besides: one list, obtained in one step, and never while they run."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.support.until import PATIENCE_S
from tools.programs import LIST, Locked

TESTS = Path(__file__).parents[2]
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root installs Debian's packages")
APT = """#!/bin/sh
PATH=/usr/bin:/bin
echo "$*" >>{folder}/asked
case "$*" in *update*) exit 0 ;; esac
for word; do [ "$word" = {broken} ] && exit 100; done
for word; do case "$word" in etcd-server) touch {folder}/etcd && chmod 755 {folder}/etcd ;;
    golang-go) touch {folder}/go && chmod 755 {folder}/go ;; esac; done
"""
CACHE = """#!/bin/sh
for word; do case "$word" in golang-go | etcd-server | prometheus) echo "Package: $word" ;; esac; done
"""


def obtained(folder: Path, *names: str) -> str:
    """What the tool prints, on a machine that has no more than the programs of a folder."""
    done = subprocess.run(
        [sys.executable, "-m", "tools.programs", *names],
        env={"PATH": str(folder)}, capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def debian(folder: Path, broken: str = "none") -> None:
    """A package manager that writes down what it is asked for, and cannot install one."""
    texts: Mapping[str, str] = {
        "apt-get": APT.format(folder=folder, broken=broken),
        "apt-cache": CACHE,
        "dpkg-query": "#!/bin/sh\necho installed etcd-server 1.2\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    (folder / "timeout").symlink_to(shutil.which("timeout") or "")


def installs(folder: Path) -> list[list[str]]:
    lines = (folder / "asked").read_text().splitlines()
    return [line.partition(" install ")[2].split() for line in lines if " install " in line]


@AS_ROOT
def test_all_that_is_missing_is_installed_by_one_call_that_is_said_before(tmp_path: Path) -> None:
    debian(tmp_path)

    said = obtained(tmp_path, "etcd", "go")

    assert installs(tmp_path) == [["golang-go", "etcd-server"]]
    assert "Installing with apt-get, on this machine (INSTALL=0 leaves" in said
    assert "etcd-server 1.2" in said
    assert "Not to be had" not in said


@AS_ROOT
def test_one_that_cannot_be_installed_holds_up_no_other(tmp_path: Path) -> None:
    debian(tmp_path, broken="prometheus")

    said = obtained(tmp_path, "etcd", "promtool")

    assert sorted(map(len, installs(tmp_path))) == [1, 1, 2]
    assert "Not to be had: promtool: the tests of the alert rules are skipped." in said
    assert "Not to be had: etcd" not in said


def test_a_machine_that_has_all_is_told_nothing(tmp_path: Path) -> None:
    debian(tmp_path)
    for name in ("etcd", "go"):
        (tmp_path / name).touch(mode=0o755)

    assert obtained(tmp_path, "--brief", "etcd", "go") == ""
    assert not (tmp_path / "asked").exists()


def test_no_is_an_answer_and_is_said_with_the_way_out(tmp_path: Path) -> None:
    debian(tmp_path)

    said = obtained(tmp_path, "--no-system-packages", "etcd")

    assert "`make programs` as root installs Debian's etcd-server" in said
    assert not (tmp_path / "asked").exists()


def test_what_an_earlier_lock_file_made_is_not_found(tmp_path: Path) -> None:
    lock = tmp_path / "requirements.txt"
    lock.write_text("# none\n")
    packages = Locked("x", "tests", str(lock), "environment", str(tmp_path / "env"), "bin/python")
    packages.install()
    assert packages.find() == str(tmp_path / "env/bin/python")

    lock.write_text("# none any more\n")

    assert packages.find() is None


def test_each_of_the_list_is_asked_for_and_each_that_is_asked_for_is_on_the_list() -> None:
    texts = [one.read_text() for one in TESTS.rglob("*.py") if one != Path(__file__)]
    users = [text for text in texts if re.search(r"import .*\b(program|needs)\b", text)]
    asked = re.findall(r"\b(?:program|needs)\([\"']([\w-]+)[\"']\)", "".join(users))
    known = {one.name for one in LIST}

    assert set(asked) - known == set()
    assert [one for one in known if not any(f'"{one}"' in text for text in texts)] == []


def test_no_test_installs_programs() -> None:
    """tools/programs.py does, before; wheels of Mudra itself are what some tests are about."""
    found = re.compile(
        r"\"apt-get\"|\"npm\", \"(?:ci|install)\"|\"pip\", \"sync\"|\"uv\", \"sync\""
    )
    texts = {one.name: one.read_text() for one in TESTS.rglob("*.py") if one != Path(__file__)}

    assert [name for name, text in texts.items() if found.search(text)] == []
