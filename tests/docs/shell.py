"""A shell for the blocks of documents, whose `mudra` runs in the process of the tests.

bash reads the words, so quotes, pipes and files are what they are for a reader. A new process for
each `mudra` would load the program again, 0.4 s of CPU each; here the function `mudra` sends its
arguments, exported variables, folder and standard input to the test, and prints what comes back.
"""

import contextlib
import os
import select
import socket
import subprocess
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.support.until import PATIENCE_S
from typer.testing import CliRunner

from mudra.bootstrap.command_line import app

TIMEOUT_S: Final = 300
_FUNCTION: Final = r"""
mudra() {
  local input='' code='' out='' err='' name line
  IFS= read -r -d '' input || true
  exec {line}<>/dev/tcp/127.0.0.1/MUDRA_OF_THE_TEST
  { printf '%s\0' "$PWD" "$input" "$#" "$@"
    for name in $(compgen -e); do printf '%s=%s\0' "$name" "${!name}"; done
    printf '\0'; } >&$line
  IFS= read -r -d '' code <&$line; IFS= read -r -d '' out <&$line; IFS= read -r -d '' err <&$line
  exec {line}>&-
  printf %s "$out"; printf %s "$err" >&2
  return "$code"
}
export -f mudra
"""


@dataclass(frozen=True)
class Done:
    """How a script ended."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class _Call:
    folder: str
    input: str
    words: list[str]
    variables: dict[str, str]


def run_script(
    script: str, folder: Path, environment: dict[str, str], *, own_process: bool = False
) -> Done:
    """Run a script of bash in a folder; `mudra` in it is the command line of this process.

    With `own_process` it is the installed program.
    """
    with _listening() as listener, _opened(folder) as (out, err):
        port = listener.getsockname()[1]
        function = "" if own_process else _FUNCTION.replace("MUDRA_OF_THE_TEST", str(port))
        process = subprocess.Popen(
            ["bash", "-c", function + script],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env=environment,
        )
        try:
            _serve(listener, process)
        finally:
            process.kill()
            process.wait(PATIENCE_S)
    return Done(process.returncode, _read(folder, "out"), _read(folder, "err"))


@contextlib.contextmanager
def _listening() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


@contextlib.contextmanager
def _opened(folder: Path) -> Iterator[tuple[int, int]]:
    """Files for what a script prints: a pipe that no one reads meanwhile would fill."""
    with (folder / ".out").open("wb") as out, (folder / ".err").open("wb") as err:
        yield out.fileno(), err.fileno()


def _read(folder: Path, name: str) -> str:
    return (folder / f".{name}").read_text(encoding="utf-8", errors="replace")


def _serve(listener: socket.socket, process: "subprocess.Popen[bytes]") -> None:
    ended = os.pidfd_open(process.pid)
    try:
        while True:
            ready, _, _ = select.select([listener, ended], [], [], TIMEOUT_S)
            assert ready, f"nothing happened for {TIMEOUT_S} s"
            if listener in ready:
                with listener.accept()[0] as connection:
                    connection.settimeout(TIMEOUT_S)
                    _answer(connection)
            elif ended in ready:
                return
    finally:
        os.close(ended)


def _answer(connection: socket.socket) -> None:
    call = _read_call(connection)
    here = dict(os.environ)
    # What the shell has not is not there either: a variable that is None is taken away.
    others = dict.fromkeys(name for name in here if name.startswith("MUDRA_"))
    with contextlib.chdir(call.folder):
        done = CliRunner().invoke(
            app, call.words, input=call.input, env={**others, **call.variables}
        )
    err = done.stderr
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        err += "".join(traceback.format_exception(done.exception))
    with contextlib.suppress(BrokenPipeError):  # as in `mudra … | head -1`
        connection.sendall(f"{done.exit_code}\0{done.stdout}\0{err}\0".encode())


def _read_call(connection: socket.socket) -> _Call:
    fields = _fields(connection)
    folder, given, count = next(fields), next(fields), int(next(fields))
    words = [next(fields) for _ in range(count)]
    variables: dict[str, str] = {}
    for field in fields:
        if not field:
            break
        name, _, value = field.partition("=")
        variables[name] = value
    return _Call(folder, given, words, variables)


def _fields(connection: socket.socket) -> Iterator[str]:
    """Texts that end with a zero byte, as they arrive."""
    kept = b""
    while True:
        piece = connection.recv(65536)
        assert piece, "the shell ended within a call"
        *whole, kept = (kept + piece).split(b"\0")
        for one in whole:
            yield one.decode()
