"""Starts a real service as a process, and stops it."""

import contextlib
import os
import re
import select
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.support.database.template_database import prepare
from tests.support.preloaded_program import ForkedProgram
from tests.support.service import Service
from tests.support.until import PATIENCE_S

_ADDRESS_LINE = re.compile(r"Mudra answers at (?P<issuer>http://\S+)")


@contextlib.contextmanager
def running_service(
    data_dir: Path,
    *options: str,
    port: int = 0,
    sandbox: bool = True,
    from_nothing: bool = False,
    full_hashes: bool = False,
    keeps_store: bool = False,
    passed: Sequence[socket.socket] = (),
    **variables: str,
) -> Iterator[Service]:
    """Start `mudra serve` on a free port and stop it at the end.

    It is forked from a process that has the code loaded, but for the two that start as `mudra`
    does: `from_nothing` leaves it to the service to make its database, as on its very first start;
    `full_hashes` makes a password hash cost what the setting says; `keeps_store` leaves the store
    open between the members that tests make, where no test kills the service or its database.
    Sockets that are `passed` are passed as systemd does it.
    """
    if not from_nothing and "MUDRA_DATABASE_URL" not in variables:
        prepare(data_dir)
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("MUDRA_")
    } | {
        "MUDRA_DATA_DIR": str(data_dir),
        "MUDRA_TELEMETRY_PORT": "0",
        "MUDRA_ARGON2_MEMORY_MIB": "19",
        "MUDRA_STOP_PAUSE_S": "0",
        "MUDRA_SIGN_IN_HOURLY": "1000",
        "MUDRA_CONFIG_DIR": str(data_dir / "user-config"),
        **variables,
    }
    arguments = ["serve", *(["--sandbox"] if sandbox else []), "--port", str(port), *options]
    process: subprocess.Popen[str] | ForkedProgram
    if from_nothing or full_hashes:
        process = _started_afresh(arguments, environment, full_hashes=full_hashes)
    else:
        process = ForkedProgram(arguments, environment, passed=passed)
    try:
        issuer = _wait_for_address(process)
        environment["MUDRA_BASE_URL"] = issuer
        yield_this = Service(process, issuer, data_dir, environment, full_hashes, keeps_store)
        yield yield_this
        yield_this.stop()
    finally:
        if process.poll() is None:
            process.kill()
            process.wait(PATIENCE_S)
        assert process.stdout is not None
        process.stdout.close()


def _started_afresh(
    arguments: list[str], environment: dict[str, str], *, full_hashes: bool
) -> subprocess.Popen[str]:
    program = "mudra.bootstrap.entry_point" if full_hashes else "tests.support.cheap_hashes"
    return subprocess.Popen(
        [sys.executable, "-c", f"from {program} import run; run()", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
    )


def _wait_for_address(process: subprocess.Popen[str] | ForkedProgram) -> str:
    assert process.stdout is not None
    deadline = time.monotonic() + PATIENCE_S
    heard = ""
    while time.monotonic() < deadline:
        ready, _, _ = select.select([process.stdout], [], [], 0.5)
        if not ready:
            continue
        piece = os.read(process.stdout.fileno(), 65536).decode()
        heard += piece
        found = _ADDRESS_LINE.search(heard)
        if found and "\n" in heard[found.end() :]:
            return found["issuer"]
        if not piece:
            break
    raise AssertionError(f"the service did not start:\n{heard}")
