"""Logs that real logrotate rotates, in each of its ways: every line is read once and in order."""

import subprocess
from pathlib import Path

import pytest
from tests.support.manual_clock import SECOND, MovedClock
from tests.support.programs import program
from tests.support.until import PATIENCE_S

from mudra.agent.counting.event import LogPosition
from mudra.agent.sources.logs.log_file import LogFile

WAYS = [
    "create 0644",
    "nocreate",
    "copytruncate",
    "create 0644\ncompress",
    "create 0644\ncompress\ndelaycompress",
    "copytruncate\ncompress",
    "create 0644\ndateext\ndateformat -%Y%m%d-%s",
    "copytruncate\ndateext\ndateformat -%Y%m%d-%s\ncompress",
    "copytruncate\ncompress\ndelaycompress\ndateext\ndateformat -%Y%m%d-%s",
    "renamecopy",
    "copy",
]


class Reader:
    """The agent's reader of one log, which can be stopped and begun again where it was."""

    def __init__(self, log: Path) -> None:
        self.log, self.clock, self.lines = log, MovedClock(), list[bytes]()
        self.place: LogPosition | None = None

    def run(self) -> None:
        """Begin at the place and read to the end."""
        file = LogFile(self.log, self.place, lambda _: None, self.clock.monotonic, from_start=True)
        while True:
            found = file.read()
            if found is None:
                return
            self.lines += found.lines
            self.place = found.position
            if found.at_end:
                return
            if not found.lines:
                self.clock.pass_time(SECOND)


@pytest.mark.parametrize("looks", ["between", "behind"])
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.replace("\n", ", "))
def test_each_line_is_read_once_whatever_logrotate_does(
    way: str, looks: str, tmp_path: Path
) -> None:
    """Where the agent looks between two rotations, and where it stood still during both."""
    logrotate, log = program("logrotate"), tmp_path / "access.json"
    config = tmp_path / "logrotate.conf"
    config.write_text(f"{log} {{\nrotate 9\n{way}\n}}\n")
    config.chmod(0o644)
    tmp_path.chmod(0o755)
    reader, written = Reader(log), list[bytes]()

    def write(text: str) -> None:
        written.append(text.encode())
        with log.open("a") as file:  # as a server does that opens its log again
            file.write(f"{text}\n")

    write("first")
    reader.run()
    for turn in range(1 if "dateext" in way else 2):  # it refuses a second one of one moment
        write(f"before {turn}")
        words = [logrotate, "--force", "--state", tmp_path / "state", config]
        subprocess.run(words, check=True, capture_output=True, timeout=PATIENCE_S)
        write(f"behind {turn}")
        if looks == "between":
            reader.run()
    reader.run()

    assert reader.lines == written
