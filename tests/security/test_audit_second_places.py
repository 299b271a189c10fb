"""Checkpoints of the audit in each kind of second place."""

import socket
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mudra.audit.chain import Checkpoint, CheckpointForged
from mudra.audit.proof.witness import open_witness, read_collected
from mudra.bootstrap.config import ConfigError, load_settings
from mudra.storage.crypto.data_encryption import DataEncryption
from mudra.storage.crypto.keyring import Keyring
from mudra.storage.crypto.master_key import load_master_keys

CHECKPOINTS = [
    Checkpoint(count, bytes([count]) * 32, datetime(2026, 3, 1, 12, count, tzinfo=UTC), epoch)
    for epoch, count in ((1, 9), (1, 10), (2, 10), (2, 11))
]


@pytest.fixture
def encryption(tmp_path: Path) -> DataEncryption:
    masters = load_master_keys({}, tmp_path, create=True, database_is_sealed=False)
    return DataEncryption(Keyring(masters), b"s", b"n", b"p", b"c")


@pytest.fixture
def log(tmp_path: Path) -> Iterator[socket.socket]:
    """A system log on a Unix socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind(str(tmp_path / "log"))
        yield receiver


@pytest.mark.parametrize(
    "kind", ["file", "file:{}/own.jsonl", "directory:{}/store", "syslog:{}/log"]
)
def test_checkpoints_come_back_in_order(
    kind: str, tmp_path: Path, encryption: DataEncryption, log: socket.socket
) -> None:
    (tmp_path / "store").mkdir()
    place = open_witness(kind.format(tmp_path), tmp_path, encryption)

    assert (place.newest(), list(place.all())) == (None, [])
    for checkpoint in CHECKPOINTS:
        place.publish(checkpoint)

    assert list(place.all()) == CHECKPOINTS
    assert place.newest() == CHECKPOINTS[-1]


def test_what_a_system_log_collected_is_read_between_other_lines(
    tmp_path: Path, encryption: DataEncryption, log: socket.socket
) -> None:
    place = open_witness(f"syslog:{tmp_path}/log", tmp_path, encryption)
    for checkpoint in CHECKPOINTS:
        place.publish(checkpoint)

    collected = [log.recv(4096).rstrip(b"\0") + b"\n" for _ in CHECKPOINTS]
    lines = [b"<13>Mar  1 host sshd: another line\n", *collected]

    assert read_collected(lines, encryption) == CHECKPOINTS
    with pytest.raises(CheckpointForged, match="line 2 was altered"):
        read_collected([lines[0], lines[1].replace(b'"count":9', b'"count":8')], encryption)


def test_a_log_that_cannot_be_reached_gets_its_checkpoint_later(
    tmp_path: Path, encryption: DataEncryption
) -> None:
    place = open_witness(f"syslog:{tmp_path}/nowhere", tmp_path, encryption)

    with pytest.raises(OSError, match="No such file"):
        place.publish(CHECKPOINTS[0])

    assert place.newest() is None


@pytest.mark.parametrize("kind", ["file", "directory:{}"])
def test_a_copy_that_was_altered_is_named(
    kind: str, tmp_path: Path, encryption: DataEncryption
) -> None:
    store = tmp_path / "store"
    store.mkdir()
    place = open_witness(kind.format(store), store, encryption)
    place.publish(CHECKPOINTS[0])
    (file,) = store.iterdir()

    assert file.stat().st_mode & 0o077 == 0
    file.write_bytes(file.read_bytes().replace(b'"count":9', b'"count":8'))

    with pytest.raises(CheckpointForged, match="altered"):
        place.all()


@pytest.mark.parametrize("torn", [1, 40, -1])
def test_a_line_that_was_half_written_counts_for_nothing_and_is_written_again(
    torn: int, tmp_path: Path, encryption: DataEncryption
) -> None:
    """As a full disk or a power cut leaves it."""
    place = open_witness("file", tmp_path, encryption)
    for checkpoint in CHECKPOINTS[:2]:
        place.publish(checkpoint)
    (file,) = tmp_path.glob("*.jsonl")
    first, second = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(first + second[:torn])

    assert place.newest() == CHECKPOINTS[0]
    assert list(place.all()) == CHECKPOINTS[:1]
    for checkpoint in CHECKPOINTS[1:]:
        place.publish(checkpoint)
    assert list(place.all()) == CHECKPOINTS
    assert file.read_bytes().startswith(first + second)


def test_a_first_line_that_was_half_written_leaves_an_empty_place(
    tmp_path: Path, encryption: DataEncryption
) -> None:
    place = open_witness("file", tmp_path, encryption)
    place.publish(CHECKPOINTS[0])
    (file,) = tmp_path.glob("*.jsonl")
    file.write_bytes(file.read_bytes()[:40])

    assert (place.newest(), list(place.all())) == (None, [])
    place.publish(CHECKPOINTS[1])
    assert list(place.all()) == CHECKPOINTS[1:2]


@pytest.mark.parametrize("value", ["tape", "directory", "directory:", "syslog:", "syslog:host:x"])
def test_a_second_place_that_is_none_is_refused(value: str) -> None:
    with pytest.raises(ConfigError, match="MUDRA_AUDIT_CHECKPOINTS must be file, file:PATH"):
        load_settings({"MUDRA_AUDIT_CHECKPOINTS": value})
