"""The spool and the socket are the agent's own."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.manual_clock import MovedClock

from mudra.agent.counting.payload import Payload
from mudra.agent.delivery.dpop_key_file import dpop_key
from mudra.agent.host.listener import unix_socket
from mudra.agent.spool.payload_files import PayloadFiles
from mudra.agent.spool.spool import FILE_NAME, Spool, SpoolReadable
from mudra.client import SecretUnreadable
from mudra.metrics.payload.catalogue import Tag


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("open_umask")
def test_no_file_of_the_spool_can_be_read_by_others(tmp_path: Path) -> None:
    directory = tmp_path / "spool"
    spool = Spool(directory)
    spool.write_journal(1, b"entry")
    PayloadFiles(directory).write(Payload(600_000, next(iter(Tag)), "txn", b"{}"))

    modes = {
        str(path.relative_to(tmp_path)): stat.S_IMODE(path.stat().st_mode)
        for path in (directory, *directory.rglob("*"))
    }

    assert len(modes) >= 5
    assert not {name: oct(mode) for name, mode in modes.items() if mode & 0o077}
    spool.close()


@pytest.mark.parametrize("mode", [0o755, 0o750, 0o710, 0o701])
def test_a_directory_open_to_others_is_refused_with_the_way_out(tmp_path: Path, mode: int) -> None:
    directory = tmp_path / "spool"
    directory.mkdir()
    directory.chmod(mode)

    with pytest.raises(SpoolReadable, match=f"chmod -R go= {directory}"):
        Spool(directory)


def test_a_file_open_to_others_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    (tmp_path / FILE_NAME).touch()
    (tmp_path / FILE_NAME).chmod(0o640)

    with pytest.raises(SpoolReadable, match="has mode 0640"):
        Spool(tmp_path)


@pytest.mark.usefixtures("open_umask")
def test_the_key_of_its_tokens_is_made_once_and_read_by_the_agent_alone(tmp_path: Path) -> None:
    path = tmp_path / "dpop-key.pem"

    made = dpop_key(path, MovedClock())

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
    assert dpop_key(path, MovedClock()).thumbprint == made.thumbprint


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o602])
def test_a_key_that_others_can_read_is_refused_with_the_way_out(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "dpop-key.pem"
    dpop_key(path, MovedClock())
    path.chmod(mode)

    with pytest.raises(SecretUnreadable, match=f"chmod 600 {path}"):
        dpop_key(path, MovedClock())


def test_what_is_no_key_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path, folder = tmp_path / "dpop-key.pem", tmp_path / "folder"
    path.write_text("hush-hush")
    path.chmod(0o600)
    folder.mkdir()

    with pytest.raises(SecretUnreadable, match="P-256 key in PEM") as error:
        dpop_key(path, MovedClock())
    os.mkfifo(tmp_path / "pipe")
    for other in (folder, tmp_path / "pipe", tmp_path / "none" / "dpop-key.pem", Path(os.devnull)):
        with pytest.raises(SecretUnreadable, match=r"credentials\.dpop_key"):
            dpop_key(other, MovedClock())

    assert "hush-hush" not in str(error.value)
    assert path.read_text() == "hush-hush"


@pytest.mark.usefixtures("open_umask")
def test_a_unix_socket_is_for_the_agents_user_and_group(tmp_path: Path) -> None:
    path = tmp_path / "socket"
    for _ in range(2):  # one that was left is replaced
        made = unix_socket(f"unix:{path}")
        assert made is not None
        assert stat.S_IMODE(path.stat().st_mode) == 0o660
        made[0].close()
    assert unix_socket("127.0.0.1:4044") is None
