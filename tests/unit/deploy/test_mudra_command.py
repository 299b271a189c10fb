"""`mudra` at a shell of a machine with systemd: what reaches the service manager, and what does not."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from tests.support.until import PATIENCE_S

COMMAND = Path("deploy/systemd/mudra-command")
MANAGER = """#!/usr/bin/env python3
# What systemd-run was called with, and what a unit that reads its files would have.
import json, os, sys
words = sys.argv[1:]
files = [word.partition("=")[2] for word in words if word.startswith("--property=EnvironmentFile=")]
files = [one.partition("=")[2] for one in files]
with open(os.environ["SAID"], "w") as said:
    json.dump({"words": words, "files": [open(one).read() for one in files],
               "modes": [os.stat(one).st_mode & 0o777 for one in files],
               "input": sys.stdin.read()}, said)
sys.exit(int(os.environ.get("ENDS", "0")))
"""


class Machine:
    """A directory that is the machine: the paths of the script lead below it."""

    def __init__(self, folder: Path, user: int = 0) -> None:
        self.folder = folder
        programs = folder / "programs"
        for name in ("opt/mudra/bin", "etc/mudra", "run", "programs"):
            (folder / name).mkdir(parents=True)
        self.program(programs / "systemd-run", MANAGER)
        self.program(programs / "id", f"#!/bin/sh\necho {user}\n")
        self.program(folder / "opt/mudra/bin/mudra", "#!/bin/sh\n")
        (folder / "etc/mudra/mudra.env").write_text("MUDRA_PORT=8080\n")
        text = COMMAND.read_text()
        for path in ("/opt/mudra/bin/mudra", "/etc/mudra/mudra.env", "/run/"):
            assert path in text
            text = text.replace(path, f"{folder}{path}")
        self.program(folder / "mudra", text)

    @staticmethod
    def program(path: Path, text: str) -> None:
        path.write_text(text)
        path.chmod(0o755)

    def run(
        self, *words: str, given: str = "", **variables: str
    ) -> "subprocess.CompletedProcess[str]":
        path = f"{self.folder / 'programs'}:{os.environ['PATH']}"
        without = {name: value for name, value in os.environ.items() if "MUDRA_" not in name}
        return subprocess.run(
            [self.folder / "mudra", *words],
            env={**without, "PATH": path, "SAID": str(self.folder / "said"), **variables},
            input=given, capture_output=True, text=True, timeout=PATIENCE_S, check=False,
            cwd=self.folder,
        )  # fmt: skip

    def said(self) -> dict[str, list[str]]:
        found = json.loads((self.folder / "said").read_text())
        assert isinstance(found, dict)
        return found


def test_the_shell_takes_the_script() -> None:
    assert subprocess.run(["sh", "-n", COMMAND], timeout=PATIENCE_S, check=False).returncode == 0
    assert os.access(COMMAND, os.X_OK)


def test_a_command_has_settings_user_and_directory_of_the_service(tmp_path: Path) -> None:
    """The same as the unit's, line by line."""
    machine = Machine(tmp_path)
    done = machine.run("doctor", "--json", given="a line")
    said = machine.said()
    unit = Path("deploy/systemd/mudra.service").read_text().splitlines()
    own = [word.partition("=")[2] for word in said["words"] if word.startswith("--property=")]

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    for line in (
        "User=mudra", "UMask=0077", "StateDirectory=mudra", "StateDirectoryMode=0700",
        "Environment=MUDRA_DATA_DIR=/var/lib/mudra", "EnvironmentFile=/etc/mudra/mudra.env",
    ):  # fmt: skip
        assert line in unit
    assert "KillMode=process" in own
    assert {"UMask=0077", "StateDirectory=mudra", "StateDirectoryMode=0700"} <= set(own)
    assert f"WorkingDirectory=-{tmp_path.resolve()}" in own
    assert {"--uid=mudra", "--setenv=MUDRA_DATA_DIR=/var/lib/mudra"} <= set(said["words"])
    assert said["files"][0] == "MUDRA_PORT=8080\n"
    program = f"{tmp_path}/opt/mudra/bin/mudra"
    assert said["words"][said["words"].index("--") :] == ["--", program, "doctor", "--json"]
    assert said["input"] == "a line"
    # The backup's unit has one place more.
    assert "MUDRA_BACKUP_DIR=/var/backups/mudra" in (
        Path("deploy/systemd/mudra-backup.service").read_text()
    )
    assert "--setenv=MUDRA_BACKUP_DIR=/var/backups/mudra" in said["words"]


@pytest.mark.parametrize(
    "word",
    [
        "",
        "two words",
        "a 'quote' and \"another\"",
        "$HOME ${HOME} $$ 5$",
        "*",
        "-n",
        "\\",
        "a\nb\n",
        "%h %%",
    ],
)
def test_an_argument_arrives_as_it_was_typed(tmp_path: Path, word: str) -> None:
    """The service manager makes one $ of two, and replaces $NAME; nothing else of an argument."""
    machine = Machine(tmp_path)
    done = machine.run("member", "note", word, "last")
    words = machine.said()["words"]
    given = words[words.index("--") + 2 :]

    assert done.returncode == 0, done.stderr
    assert given == ["member", "note", word.replace("$", "$$"), "last"]


def test_what_the_caller_sets_is_in_a_file_of_roots_and_gone_afterwards(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    secret = 'postgresql://postgres:it\'s $5 "a\\b" `c`@db/mudra'
    done = machine.run("database", "prepare", MUDRA_DATABASE_ADMIN_URL=secret, OTHER="no")
    said = machine.said()

    assert done.returncode == 0, done.stderr
    assert said["files"][1] == (
        'MUDRA_DATABASE_ADMIN_URL="postgresql://postgres:it\'s \\$5 \\"a\\\\b\\" \\`c\\`@db/mudra"\n'
    )
    assert said["modes"][1] == 0o600
    assert "postgres" not in " ".join(said["words"])
    assert list((tmp_path / "run").iterdir()) == []


def test_the_exit_code_is_the_commands(tmp_path: Path) -> None:
    machine = Machine(tmp_path)

    assert machine.run("doctor", ENDS="1").returncode == 1
    assert list((tmp_path / "run").iterdir()) == []


def test_it_never_runs_with_other_settings(tmp_path: Path) -> None:
    """Without root, settings or program it says what to do, and runs nothing."""
    other = Machine(tmp_path / "user", user=1000)
    bare = Machine(tmp_path / "bare")
    (bare.folder / "etc/mudra/mudra.env").unlink()
    no_user, no_settings = other.run("doctor"), bare.run("doctor")
    (bare.folder / "opt/mudra/bin/mudra").unlink()
    no_program = bare.run("doctor")

    assert [one.returncode for one in (no_user, no_settings, no_program)] == [1, 1, 1]
    assert "use sudo" in no_user.stderr
    assert "mudra.env" in no_settings.stderr
    assert "install Mudra into /opt/mudra" in no_program.stderr
    assert not (other.folder / "said").exists()
    assert not (bare.folder / "said").exists()
