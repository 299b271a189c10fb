"""The embedded server is there while held, gone when not, and its data outlives every kill."""

import os
import signal
import subprocess
import tempfile
from pathlib import Path

import psycopg
import pytest
from tests.faults.postgres.embedded_holder import (
    Holder,
    answers,
    holder,
    is_gone,
    postmaster,
    read_the_row,
    run,
    write_a_row,
)
from tests.support.database.template_database import prepare
from tests.support.until import PATIENCE_S, until

from mudra.storage.database.embedded.account import UNSHARED_UID, choose_accounts
from mudra.storage.database.embedded.cluster import CLUSTER, Cluster
from mudra.storage.database.embedded.programs import EmbeddedServerError, programs
from mudra.storage.database.embedded.server import embedded_server

OTHER_UID = 65534


@pytest.fixture
def made(tmp_path):
    """A data directory that has its cluster already: to make one takes half a second of CPU."""
    prepare(tmp_path)
    return tmp_path


def test_data_outlives_the_holder(tmp_path):
    with embedded_server(tmp_path / "made" / "here") as url:
        write_a_row(url)
    assert is_gone(tmp_path / "made" / "here")

    with embedded_server(tmp_path / "made" / "here") as url:
        assert read_the_row(url)


@pytest.mark.parametrize("name", ["postgres.holders", "postgres.alive", "postgres.log"])
def test_a_second_name_of_another_file_is_not_written_to(tmp_path, name):
    precious = tmp_path / "precious"
    precious.write_text("precious")
    (tmp_path / "var").mkdir()
    (tmp_path / "var" / name).hardlink_to(precious)

    with pytest.raises(EmbeddedServerError, match=name), embedded_server(tmp_path / "var"):
        pass
    assert precious.read_text() == "precious"


def test_the_server_is_private_and_set_up_as_promised(tmp_path):
    with embedded_server(tmp_path / "var") as url:
        settings = dict(run(url, "SELECT name, setting FROM pg_settings"))
        encoding = run(
            url, "SELECT pg_encoding_to_char(encoding) FROM pg_database WHERE datname = 'mudra'"
        )

        assert (tmp_path / "var" / "postgres").stat().st_mode & 0o777 == 0o700
        assert (tmp_path / "var" / "postgres" / "run").stat().st_mode & 0o777 == 0o700
    assert settings["listen_addresses"] == ""
    assert settings["unix_socket_permissions"] == "0700"
    assert settings["max_connections"] == "200"
    assert settings["synchronous_commit"] == "on"
    assert settings["fsync"] == "on"
    assert settings["TimeZone"] == "UTC"
    assert settings["data_checksums"] == "on"
    assert encoding == [("UTF8",)]


def test_the_log_never_shows_a_statement_or_a_value(made):
    with embedded_server(made) as url, psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE t (v text PRIMARY KEY)")
        connection.execute("INSERT INTO t VALUES (%s)", ["HUSH-HUSH"])
        with pytest.raises(psycopg.errors.UniqueViolation):
            connection.execute("INSERT INTO t VALUES (%s)", ["HUSH-HUSH"])
        with pytest.raises(psycopg.errors.SyntaxError):
            connection.execute("SELEC 'HUSH-HUSH'")
        with pytest.raises(psycopg.errors.InvalidTextRepresentation):
            connection.execute("SELECT 'HUSH-HUSH'::int")

    log = (made / "postgres.log").read_text()
    assert "ready to accept connections" in log
    assert "HUSH" not in log


def test_the_log_is_cut_before_it_grows_large(made):
    (made / "postgres.log").write_bytes(b"old line\n" * 1_000_000)

    with embedded_server(made):
        assert (made / "postgres.log").stat().st_size < 100_000
    assert (made / "postgres.log.1").stat().st_size <= 8 * 1024 * 1024


def test_the_server_stays_until_the_last_of_two_holders_has_left(made):
    with holder(made) as first, holder(made) as second:
        url = first.answer()
        assert second.answer() == url

        first.leave()
        assert answers(url)
        second.leave()

        assert is_gone(made)


def test_holders_that_start_at_once_share_one_server(tmp_path):
    holders = [Holder(tmp_path) for _ in range(4)]

    urls = {one.answer() for one in holders}
    assert len(urls) == 1
    assert answers(urls.pop())
    assert (tmp_path / "postgres.log").read_text().count("ready to accept") == 1

    for one in holders:
        one.leave()
    assert is_gone(tmp_path)


@pytest.mark.slow
def test_holders_that_come_and_go_all_the_time_always_find_a_server(made):
    for _ in range(3):
        with holder(made) as first:
            url = first.answer()
            with holder(made) as second:
                first.may_leave()
                assert second.answer() == url
                assert answers(url)

    assert is_gone(made)


def test_the_server_of_a_killed_holder_is_used_as_it_is_by_the_next_and_stopped_by_it(made):
    with holder(made) as killed:
        write_a_row(killed.answer())
        server = postmaster(made)
        killed.kill()

        with embedded_server(made) as url:
            assert read_the_row(url)
            assert postmaster(made) == server
        assert is_gone(made)


def test_the_server_of_a_killed_holder_stays_for_one_that_uses_it(made):
    with holder(made) as first, holder(made) as second:
        first.answer()
        url = second.answer()
        first.kill()

        assert answers(url)
        second.leave()

        assert is_gone(made)


def test_a_holder_that_comes_right_after_a_kill_finds_a_server(made):
    for _ in range(2):
        with holder(made) as killed:
            killed.answer()
            killed.kill()
            with embedded_server(made) as url:
                assert answers(url)


def test_a_forked_worker_holds_the_server_too_and_stops_it_as_the_last(made):
    with holder(made, kind="forks") as parent:
        url, _ = parent.answer().split()
        parent.kill()

        assert answers(url)
        parent.may_leave()
        until(lambda: is_gone(made))


def test_the_next_holder_recovers_when_everything_was_killed(made):
    with holder(made) as killed:
        write_a_row(killed.answer())
        pids = [killed.process.pid, postmaster(made)]
        for pid in pids:
            os.kill(pid, signal.SIGKILL)

        with embedded_server(made) as url:
            assert read_the_row(url)
        assert is_gone(made)


def test_a_stale_pid_file_whose_number_another_process_now_has_does_no_harm(made):
    with embedded_server(made):
        lines = (made / "postgres" / "postmaster.pid").read_text().splitlines()
    stale = [str(os.getpid()), *lines[1:]]
    (made / "postgres" / "postmaster.pid").write_text("\n".join(stale) + "\n")

    with embedded_server(made) as url:
        assert answers(url)
    assert is_gone(made)


def test_a_server_that_someone_started_by_hand_is_neither_used_nor_stopped(made):
    programs_of = programs()
    with embedded_server(made):
        pass
    account = choose_accounts(made, made / CLUSTER, programs_of).server
    by_hand = [*account.prefix, programs_of / "postgres", "-D", made / CLUSTER]
    with subprocess.Popen(
        [*by_hand, "--listen_addresses=", f"--unix_socket_directories={made / CLUSTER / 'run'}"],
        cwd="/",
        stderr=subprocess.DEVNULL,
    ) as process:
        until(lambda: Cluster(made).socket_dir() is not None)

        with (
            pytest.raises(EmbeddedServerError, match=rf"process {process.pid} runs on .*pg_ctl"),
            embedded_server(made),
        ):
            pass

        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE_S)
    with embedded_server(made) as url:
        assert answers(url)


def test_control_c_in_the_holders_terminal_does_not_reach_the_server(made):
    with embedded_server(made):
        assert os.getsid(postmaster(made)) != os.getsid(0)


def test_the_holder_has_one_child_and_keeps_nothing_afterwards(made):
    before = {fd.name for fd in Path("/proc/self/fd").iterdir()}, children()

    with embedded_server(made):
        assert children() - before[1] == {str(postmaster(made))}

    assert ({fd.name for fd in Path("/proc/self/fd").iterdir()}, children()) == before


def children() -> set[str]:
    """Of all threads of this process; other tests' services may be among them."""
    tasks = Path("/proc/self/task").iterdir()
    return {pid for task in tasks for pid in (task / "children").read_text().split()}


def test_no_lock_is_open_in_the_server_but_the_one_that_shows_that_it_lives(made):
    with embedded_server(made):
        fds = Path(f"/proc/{postmaster(made)}/fd")
        names = {fd.readlink().name for fd in fds.iterdir()}

    assert {name for name in names if name.startswith("postgres.")} == {
        "postgres.alive",
        "postgres.log",
    }


def test_a_first_start_that_was_cut_off_starts_over(tmp_path):
    (tmp_path / "postgres.new").mkdir()
    (tmp_path / "postgres.new" / "PG_VERSION").write_text("18\n")

    with embedded_server(tmp_path) as url:
        assert answers(url)


def test_a_data_directory_with_a_long_path_gets_its_socket_elsewhere(tmp_path):
    data_dir = tmp_path / ("long-" * 20) / 'odd "name", with %'
    prepare(data_dir)

    with embedded_server(data_dir) as url:
        write_a_row(url)
        [(setting,)] = run(url, "SHOW unix_socket_directories")
        folder = Path(setting.strip('"'))
        assert folder.stat().st_mode & 0o777 == 0o700
        assert folder.parent == Path(tempfile.gettempdir())
    with embedded_server(data_dir) as url:
        assert read_the_row(url)
    folder.rmdir()


@pytest.mark.parametrize("trap", ["mode", "owner", "link"])
def test_a_socket_directory_that_another_user_prepared_is_refused(tmp_path, trap):
    data_dir = tmp_path / ("long-" * 20)
    data_dir.mkdir()
    prepare(data_dir)
    found = data_dir.stat()
    name = f"mudra-{found.st_dev:x}-{found.st_ino:x}-{os.geteuid() or UNSHARED_UID}"
    folder = Path(tempfile.gettempdir()) / name
    if trap == "link":
        folder.symlink_to(tmp_path)
    else:
        folder.mkdir()
        folder.chmod(0o777 if trap == "mode" else 0o700)
    if trap == "owner":
        if os.geteuid() != 0:
            folder.rmdir()
            pytest.skip("only root can give a directory away")
        os.chown(folder, OTHER_UID, OTHER_UID)
    elif os.geteuid() == 0:
        os.chown(folder, UNSHARED_UID, UNSHARED_UID, follow_symlinks=False)

    try:
        with pytest.raises(EmbeddedServerError, match=name), embedded_server(data_dir):
            pass
    finally:
        folder.unlink() if trap == "link" else folder.rmdir()


def test_another_major_version_is_refused_in_a_sentence(tmp_path):
    (tmp_path / "postgres").mkdir()
    (tmp_path / "postgres" / "PG_VERSION").write_text("17\n")

    with (
        pytest.raises(EmbeddedServerError, match=r"written by PostgreSQL 17.*restore the dump"),
        embedded_server(tmp_path),
    ):
        pass
    assert is_gone(tmp_path)


def test_a_damaged_cluster_is_reported_with_the_end_of_the_log(made):
    with embedded_server(made):
        pass
    (made / "postgres" / "global" / "pg_control").unlink()

    with (
        pytest.raises(
            EmbeddedServerError, match=r"(?s)MUDRA_DATABASE_URL.*could not find the database system"
        ),
        embedded_server(made),
    ):
        pass
    assert is_gone(made)


def test_a_file_in_place_of_the_data_directory_is_refused(tmp_path):
    (tmp_path / "file").touch()

    with (
        pytest.raises(EmbeddedServerError, match="MUDRA_DATA_DIR"),
        embedded_server(tmp_path / "file"),
    ):
        pass
