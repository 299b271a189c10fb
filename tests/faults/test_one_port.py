"""Two nodes on one port: one serves, and the other says why it does not."""

import os
import signal
from pathlib import Path

from tests.support.agent.agent_process import free_port
from tests.support.database.template_database import prepare
from tests.support.preloaded_program import ForkedProgram
from tests.support.until import PATIENCE_S, until


def started(port: int, folder: Path) -> ForkedProgram:
    """A sandbox that begins to start, with what it prints in `printed`."""
    prepare(folder / "data")
    own = {"MUDRA_DATA_DIR": str(folder / "data"), "MUDRA_TELEMETRY_PORT": "0"}
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MUDRA_")} | own
    with (folder / "printed").open("wb") as output:
        return ForkedProgram(
            ["serve", "--sandbox", "--port", str(port)], environment, output=output.fileno()
        )


def printed(folder: Path) -> str:
    return " ".join((folder / "printed").read_text().split())


def test_of_two_starts_at_once_one_serves_and_the_other_says_why(tmp_path: Path) -> None:
    port = free_port()
    folders = [tmp_path / name for name in ("one", "other")]
    for folder in folders:
        folder.mkdir()
    nodes = [started(port, folder) for folder in folders]
    try:
        until(
            lambda: all(
                node.poll() is not None or "Mudra answers at" in printed(folder)
                for node, folder in zip(nodes, folders, strict=True)
            ),
            lambda: [printed(folder) for folder in folders],
        )
        ended = [node.poll() is not None for node in nodes]

        assert sorted(ended) == [False, True], [printed(folder) for folder in folders]
        said = printed(folders[ended.index(True)])
        assert f"cannot listen on 127.0.0.1:{port}: Address already in use" in said
        assert "set MUDRA_PORT (or --port) to a free one" in said
    finally:
        for node in nodes:
            if node.poll() is None:
                node.send_signal(signal.SIGTERM)
                node.wait(PATIENCE_S)
