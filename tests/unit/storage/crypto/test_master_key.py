"""The master keys come from one place, whole, and never show themselves."""

import base64
import os
import stat
import sys

import pytest

from mudra.storage.crypto import master_key
from mudra.storage.crypto.master_key import (
    MasterKeyError,
    MasterKeys,
    SecretBytes,
    load_master_keys,
    parse_master_keys,
)

ONE = base64.b64encode(b"1" * 32).decode()
TWO = base64.b64encode(b"2" * 32).decode()


def load(environment, data_dir, *, create=False, database_is_sealed=False):
    return load_master_keys(
        environment, data_dir, create=create, database_is_sealed=database_is_sealed
    )


def revealed(keys):
    return {version: key.reveal() for version, key in keys.keys.items()}


def printing(text):
    return {"MUDRA_MASTER_KEY_COMMAND": f"{sys.executable} -c \"print('{text}')\""}


def test_the_environment_holds_several_versions_with_the_active_one_first(tmp_path):
    keys = load({"MUDRA_MASTER_KEY": f"2:{TWO},1:{ONE}"}, tmp_path)

    assert keys.active == 2
    assert revealed(keys) == {2: b"2" * 32, 1: b"1" * 32}
    assert list(tmp_path.iterdir()) == []


def test_a_value_without_a_number_is_version_1(tmp_path):
    keys = load({"MUDRA_MASTER_KEY": ONE}, tmp_path)

    assert (keys.active, revealed(keys)) == (1, {1: b"1" * 32})


def test_a_command_prints_the_keys(tmp_path):
    assert revealed(load(printing(f"2:{TWO},1:{ONE}"), tmp_path)) == {2: b"2" * 32, 1: b"1" * 32}


def test_the_environment_comes_before_the_command_and_the_file(tmp_path):
    load({}, tmp_path, create=True)

    keys = load(printing(TWO) | {"MUDRA_MASTER_KEY": ONE}, tmp_path)

    assert revealed(keys) == {1: b"1" * 32}


def test_the_command_comes_before_the_file(tmp_path):
    load({}, tmp_path, create=True)

    assert revealed(load(printing(TWO), tmp_path)) == {1: b"2" * 32}


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("/nowhere/kms-client", "could not be started: No such file"),
        ("sh -c 'echo LEAK; echo LEAK >&2; exit 3'", "ended with status 3"),
        ("echo 'LEAK", "is not a command line"),
        ("echo LEAK", "is not a master key"),
    ],
)
def test_a_failed_command_says_why_and_never_what_it_printed(tmp_path, command, said):
    with pytest.raises(MasterKeyError, match=said) as caught:
        load({"MUDRA_MASTER_KEY_COMMAND": command}, tmp_path, create=True)

    assert "MUDRA_MASTER_KEY_COMMAND" in str(caught.value)
    assert "LEAK" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert list(tmp_path.iterdir()) == []


def test_a_command_that_hangs_is_aborted(tmp_path, monkeypatch):
    monkeypatch.setattr(master_key, "COMMAND_SECONDS", 0.1)

    with pytest.raises(MasterKeyError, match=r"did not finish within 0\.1 s"):
        load({"MUDRA_MASTER_KEY_COMMAND": "sleep 30"}, tmp_path)


def test_the_file_is_made_once_private_and_read_ever_after(tmp_path):
    made = load({}, tmp_path, create=True)

    again = load({}, tmp_path, create=True)

    file = tmp_path / "master.key"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert revealed(again) == revealed(made)
    assert len(made.keys[1].reveal()) == 32
    assert [p.name for p in tmp_path.iterdir()] == ["master.key"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o610])
def test_a_file_that_others_can_open_is_refused(tmp_path, mode):
    load({}, tmp_path, create=True)
    (tmp_path / "master.key").chmod(mode)

    with pytest.raises(MasterKeyError, match="chmod 600"):
        load({}, tmp_path, create=True)


def test_a_missing_file_is_never_recreated_over_an_encrypted_database(tmp_path):
    with pytest.raises(MasterKeyError, match="restore the file from its backup"):
        load({}, tmp_path, create=True, database_is_sealed=True)

    assert list(tmp_path.iterdir()) == []


def test_a_missing_file_is_not_made_unless_asked_for(tmp_path):
    with pytest.raises(MasterKeyError, match="there is no master key"):
        load({}, tmp_path)

    assert list(tmp_path.iterdir()) == []


def test_an_empty_file_is_refused(tmp_path):
    (tmp_path / "master.key").touch(mode=0o600)

    with pytest.raises(MasterKeyError, match="entry 1 of"):
        load({}, tmp_path, create=True)


def test_a_directory_in_place_of_the_file_is_refused(tmp_path):
    (tmp_path / "master.key").mkdir()

    with pytest.raises(MasterKeyError, match="cannot be read"):
        load({}, tmp_path, create=True)


def test_a_missing_data_directory_is_named(tmp_path):
    with pytest.raises(MasterKeyError, match="MUDRA_DATA_DIR"):
        load({}, tmp_path / "none", create=True)


@pytest.mark.parametrize(
    "text",
    ["", "x", ONE[:-4], f"0:{ONE}", f"-1:{ONE}", f"a:{ONE}", f":{ONE}", f"4294967296:{ONE}",
     f"1:{ONE},1:{TWO}", f"1:2:{ONE}", f"1:{ONE[:-1]}!"],
)  # fmt: skip
def test_malformed_keys_are_refused_without_being_shown(text):
    with pytest.raises(MasterKeyError) as caught:
        parse_master_keys(text, "MUDRA_MASTER_KEY")

    assert "MUDRA_MASTER_KEY" in str(caught.value)
    assert ONE[:8] not in str(caught.value)


def test_the_active_version_must_be_there():
    with pytest.raises(MasterKeyError, match="active version 2"):
        MasterKeys(2, {1: SecretBytes(b"1" * 32)})


def test_keys_show_themselves_as_stars():
    keys = parse_master_keys(ONE, "here")

    assert str(keys.keys[1]) == f"{keys.keys[1]!r}" == "***"
    assert "111" not in repr(keys)


def test_many_processes_that_start_at_once_agree_on_one_key(tmp_path):
    children = []
    for number in range(8):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                keys = load({}, tmp_path, create=True)
                (tmp_path / f"seen-{number}").write_bytes(keys.keys[1].reveal())
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 8

    assert len({file.read_bytes() for file in tmp_path.glob("seen-*")}) == 1
