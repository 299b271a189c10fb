"""Root runs the embedded server as another user, never with more rights than needed."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from tests.faults.postgres.embedded_holder import (
    answers,
    holder,
    is_gone,
    postmaster,
    read_the_row,
    server_uid,
    status,
    write_a_row,
)
from tests.support.database.template_database import prepare
from tests.support.until import until

from mudra.storage.database.embedded.account import UNSHARED_UID, choose_accounts
from mudra.storage.database.embedded.programs import EmbeddedServerError
from mudra.storage.database.embedded.server import embedded_server

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root chooses another account")
OTHER_UID = 65534
DAC_OVERRIDE = 1 << 1


@pytest.fixture
def open_dir():
    """A directory that every user reaches."""
    path = Path(tempfile.mkdtemp(prefix="mudra-test-"))
    path.chmod(0o755)
    yield path
    until(lambda: not list(path.rglob("postmaster.pid")))
    shutil.rmtree(path)


@AS_ROOT
def test_root_runs_it_under_a_user_id_of_its_own_without_rights(open_dir):
    with embedded_server(open_dir) as url:
        write_a_row(url)
        assert server_uid(open_dir) == UNSHARED_UID
        reachable = os.access(sys.prefix, os.X_OK) and _is_open(Path(sys.prefix))
        effective = int(status(postmaster(open_dir), "CapEff"), 16)
        assert effective == (0 if reachable else DAC_OVERRIDE)
    assert is_gone(open_dir)


@AS_ROOT
def test_root_lets_it_pass_closed_directories_and_gives_no_other_right(tmp_path):
    tmp_path.chmod(0o700)

    with embedded_server(tmp_path) as url:
        write_a_row(url)
        assert server_uid(tmp_path) == UNSHARED_UID
        assert int(status(postmaster(tmp_path), "CapEff"), 16) == DAC_OVERRIDE
    assert is_gone(tmp_path)


@AS_ROOT
def test_root_runs_programs_that_are_in_a_closed_directory(open_dir, tmp_path):
    """As after `pip install` below /root: PostgreSQL looks for its programs by access(2)."""
    tmp_path.chmod(0o700)
    program = Path(shutil.copy("/bin/true", tmp_path))
    look = f"import os; print(os.getuid(), os.access({str(program)!r}, os.X_OK))"

    server = choose_accounts(open_dir, open_dir / "cluster", tmp_path).server
    said = subprocess.run(
        [*server.prefix, sys.executable, "-c", look], capture_output=True, text=True, check=False
    )

    assert said.stdout == f"{UNSHARED_UID} True\n", said.stderr


@AS_ROOT
def test_a_machine_without_setpriv_is_refused_with_a_way_out(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")

    with (
        pytest.raises(EmbeddedServerError, match=r"setpriv.*MUDRA_DATABASE_URL"),
        embedded_server(tmp_path),
    ):
        pass
    assert is_gone(tmp_path)


@AS_ROOT
def test_a_closed_directory_that_cannot_be_passed_is_named(open_dir):
    closed = open_dir / "closed"
    closed.mkdir(mode=0o700)

    before = ("setpriv", "--bounding-set", "-dac_override")
    with holder(closed / "var", before=before) as limited:
        answer = limited.answer()

    assert answer.startswith("refused: ")
    assert f"cannot pass {closed}" in answer or f"cannot pass {_first_closed(sys.prefix)}" in answer
    assert "MUDRA_DATA_DIR" in answer
    assert is_gone(closed / "var")


@AS_ROOT
def test_data_that_root_owns_is_given_to_the_user_that_runs_it(tmp_path):
    prepare(tmp_path)
    with embedded_server(tmp_path) as url:
        write_a_row(url)
    for place in (tmp_path / "postgres", *(tmp_path / "postgres").rglob("*")):
        os.chown(place, 0, 0, follow_symlinks=False)

    with embedded_server(tmp_path) as url:
        assert read_the_row(url)
        assert server_uid(tmp_path) == UNSHARED_UID


@AS_ROOT
def test_a_link_among_the_data_is_not_followed_when_it_is_given_away(tmp_path):
    prepare(tmp_path)
    outside = tmp_path / "outside"
    outside.touch()
    (tmp_path / "postgres" / "link").symlink_to(outside)
    os.chown(tmp_path / "postgres", 0, 0)

    with embedded_server(tmp_path):
        assert (tmp_path / "postgres" / "link").lstat().st_uid == UNSHARED_UID
    assert outside.stat().st_uid == 0


@AS_ROOT
def test_an_ordinary_user_runs_it_under_the_own_account_and_root_joins_without_taking_it(open_dir):
    os.chown(open_dir, OTHER_UID, OTHER_UID)
    with holder(open_dir, before=_as(OTHER_UID)) as ordinary:
        url = ordinary.answer()
        write_a_row(url)
        assert server_uid(open_dir) == OTHER_UID
        with embedded_server(open_dir) as joined:
            assert joined == url

    with holder(open_dir) as root:
        assert read_the_row(root.answer())
        assert server_uid(open_dir) == OTHER_UID

    with holder(open_dir, before=_as(OTHER_UID)) as ordinary:
        assert read_the_row(ordinary.answer())


@pytest.mark.slow
@AS_ROOT
def test_a_user_without_a_name_runs_it_too(open_dir):
    if not _is_open(Path(sys.prefix)):
        pytest.skip(f"{_first_closed(sys.prefix)} is closed to a user without a name")
    renamed = ("unshare", "--user", "--map-user=65534", "true")
    if subprocess.run([*_as(54321), *renamed], capture_output=True, check=False).returncode:
        pytest.skip("this machine gives its users no user namespaces")
    os.chown(open_dir, 54321, 54321)
    with holder(open_dir, before=_as(54321)) as nameless:
        assert answers(nameless.answer())
        assert server_uid(open_dir) == 54321


def _as(uid):
    """Run as this user, with no right but to read this interpreter where it is closed to others."""
    before = ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups"]
    if not (_is_open(Path(sys.prefix)) and _is_open(Path(sys.base_prefix))):
        # By the bit access(2) counts the right too, by which PostgreSQL looks for its programs.
        before += ["--securebits=+no_setuid_fixup"]
        before += ["--inh-caps=-all,+dac_read_search", "--ambient-caps=-all,+dac_read_search"]
    return tuple(before)


def _is_open(path):
    return _first_closed(path) is None


def _first_closed(path):
    path = Path(path).resolve()
    return next((p for p in (*reversed(path.parents), path) if not p.stat().st_mode & 0o001), None)
