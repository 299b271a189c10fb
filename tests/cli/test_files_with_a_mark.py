"""A byte order mark in files that Windows wrote: each reader leaves it out, and names UTF-16."""

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mudra.agent.delivery.credentials import Source, read_source
from mudra.bootstrap.command_line import app
from mudra.client import SecretUnreadable
from mudra.shared.secret_text import SecretFileFault, secret_variable
from mudra.storage.backup.encryption import BackupKeyInvalid, new_identity, read_identity

Read = Callable[[Path], str]


def of_a_variable(file: Path) -> str:
    try:
        return secret_variable({"MUDRA_SMTP_URL_FILE": str(file)}, "MUDRA_SMTP_URL")
    except SecretFileFault as fault:
        return str(fault)


def of_the_agent(file: Path) -> str:
    try:
        return read_source("credentials.id", Source(file=str(file)))
    except SecretUnreadable as fault:
        return str(fault)


def of_a_command_of_the_agent(file: Path) -> str:
    try:
        return read_source("credentials.secret", Source(command=("cat", str(file))))
    except SecretUnreadable as fault:
        return str(fault)


def of_a_backup(file: Path) -> str:
    try:
        return str(read_identity(file))
    except BackupKeyInvalid as fault:
        return str(fault)


def of_setup(file: Path) -> str:
    """The answers are refused for their names: so they were read, and nothing is set up."""
    return CliRunner().invoke(app, ["setup", "--answers", str(file)]).output


AGE = new_identity()[0].reveal()


@pytest.mark.parametrize(
    ("read", "text", "found"),
    [
        (of_a_variable, "smtp://mail.example", "smtp://mail.example"),
        (of_the_agent, "AA-1", "AA-1"),
        (of_a_command_of_the_agent, "s3cret", "s3cret"),
        (of_a_backup, AGE, AGE),
        (of_setup, "base_urll = 'x'", "answers are base_url"),
    ],
    ids=["variable", "agent", "command", "backup", "setup"],  # a key is another in each process
)
def test_a_mark_is_left_out_and_another_encoding_is_named(
    tmp_path: Path, read: Read, text: str, found: str
) -> None:
    file = tmp_path / "given"
    file.touch(mode=0o600)

    file.write_bytes(f"{text}\r\n".encode("utf-8-sig"))
    shown = read(file)
    assert found in shown
    assert "\ufeff" not in shown

    for encoded in (text.encode("utf-16"), f"{text}é".encode("latin-1")):
        file.write_bytes(encoded)
        refused = read(file)
        assert "UTF-8" in refused
        assert text not in refused
