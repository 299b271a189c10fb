"""The mudra program as a process that need not load its code again.

A service's start takes three seconds of CPU, half of which loads the same modules each time. One
process for each run of tests loads them once, then forks: what comes out runs the same command
line, with arguments, environment and output of its own. Tests of the start itself start over.
Benchmarks in short form are forked too, and fork their services from the same process.

python -m tests.support.preloaded_program CHANNEL
"""

import atexit
import contextlib
import fcntl
import functools
import gc
import importlib
import os
import runpy
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NoReturn

import msgspec
from setproctitle import getproctitle
from tests.support.database import template_database
from tests.support.rare_collection import collect_rarely
from tests.support.until import PATIENCE_S

from mudra.bootstrap.observability.shared_metrics import use_places
from mudra.settings.settings import Settings
from mudra.shared.build_version import version

ROOT: Final = Path(__file__).parents[2]
_MESSAGE_BYTES: Final = 1 << 17
_FIRST_PASSED, _MAX_PASSED = 3, 3
_MAX_FDS: Final = 3 + _MAX_PASSED
_ASIDE: Final = 200
_LOADED: Final = (
    "tests.support.cheap_hashes",
    "tests.support.preloaded_program",
    "mudra.bootstrap.local_store",
    "mudra.bootstrap.node.processes",
    "mudra.bootstrap.node.jobs_process",
    "mudra.agent.host.assembly",
    "mudra.agent.host.run",
    "mudra.metrics.detection.evaluation_run",
    *(f"mudra.cli.commands.node.{name}" for name in ("serve", "backup", "restore", "database")),
    "uvicorn.lifespan.off",
    "encodings.idna",
)


class ForkedProgram:
    """A running program; what tests use of `subprocess.Popen`.

    `module` is run in place of the command line, and finds the database of this test run.
    With `errors` standard error goes to that file, else to `stdout` too; with `output` both go to
    that descriptor. Sockets that are `passed` are its descriptors from 3 on, as a service manager
    passes them (sd_listen_fds(3)). One that `forks` may ask for programs itself.
    """

    def __init__(
        self,
        arguments: list[str],
        environment: dict[str, str],
        *,
        module: str = "",
        errors: Path | None = None,
        output: int | None = None,
        forks: bool = False,
        passed: Sequence[socket.socket] = (),
    ) -> None:
        read, write = os.pipe()
        self._fate, fate = os.pipe()
        run = str(template_database.directory() or "") if module else ""
        os.umask(umask := os.umask(0))
        wanted = Wanted(arguments, environment, module, run, str(errors or ""), forks, umask)
        channel = _forks()
        socket.send_fds(
            channel,
            [msgspec.json.encode(wanted)],
            [
                write if output is None else output,
                fate,
                channel.fileno(),
                *(one.fileno() for one in passed),
            ],
        )
        os.close(write)
        os.close(fate)
        self.stdout = os.fdopen(read)
        self.pid = int(self._read_reply())
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        if self.returncode is None and select.select([self._fate], [], [], 0)[0]:
            self.returncode = int(self._read_reply())
            os.close(self._fate)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; gives the exit code."""
        if self.returncode is None and not select.select([self._fate], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired(["mudra"], timeout or 0)
        code = self.poll()
        assert code is not None
        return code

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal, unless it has ended; it may also end just now, as with `Popen`."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def _read_reply(self) -> str:
        shown = b""
        while not shown.endswith(b"\n"):
            byte = os.read(self._fate, 1)
            assert byte, "the process that forks programs has ended"
            shown += byte
        return shown.decode()


class Wanted(msgspec.Struct, frozen=True):
    """One program, as it is asked for."""

    arguments: list[str]
    environment: dict[str, str]
    module: str
    run: str
    errors: str
    forks: bool
    umask: int


def share_program() -> None:
    """Start the process that forks, for this process and those that are forked from it."""
    _forks()


_inherited: list[socket.socket] = []
"""In a fork: the channel of the process that asked for it."""


@functools.cache
def _forks() -> socket.socket:
    """The channel to the process that forks, which is started unless this is a fork itself.

    Processes that share it send whole messages, each with descriptors of its own for the answer.
    """
    if _inherited:
        return _inherited[0]
    mine, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [sys.executable, "-m", "tests.support.preloaded_program", str(other.fileno())]
    process = subprocess.Popen(
        command, cwd=ROOT, pass_fds=[other.fileno()], stdin=subprocess.DEVNULL
    )
    other.close()

    def end() -> None:
        mine.close()
        process.wait(PATIENCE_S)

    atexit.register(end)
    return mine


def main() -> None:
    """Load the program, then fork one for each message until the channel is closed."""
    getproctitle()  # in each fork, whose environment is another, the library would not find its place
    channel = _out_of_the_way(int(sys.argv[1]))
    # Asked for when prometheus-client is loaded; each fork opens its files where its own are.
    unused = tempfile.mkdtemp()
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = unused
    use_places()
    for name in _LOADED:
        importlib.import_module(name)
    version()  # kept: else each program that is forked from here asks git
    for name in ("cheap_keys", "shared_tls", "short_search"):
        importlib.import_module(f"tests.support.{name}").install()
    compile_templates()
    _build_routes()
    gc.collect()
    collect_rarely()
    wanted = _fork_for_each(channel)
    if wanted is None:
        shutil.rmtree(unused)
        return
    try:
        _run(wanted)
    except SystemExit as end:
        _leave(end.code)
    _leave(None)


def _out_of_the_way(channel: int) -> socket.socket:
    """Give the channel another number, and keep those free at which sockets are passed."""
    moved = fcntl.fcntl(channel, fcntl.F_DUPFD_CLOEXEC, _ASIDE)
    os.close(channel)
    while (unused := os.open(os.devnull, os.O_RDONLY)) < _FIRST_PASSED + _MAX_PASSED:
        pass
    os.close(unused)
    return socket.socket(fileno=moved)


def compile_templates() -> None:
    """Compiles the templates of pages and emails, and reads Hindi, which each fork does otherwise."""
    importlib.import_module("mudra.localization.languages").Languages().missing()
    pages = importlib.import_module("mudra.console.framework.render").environment()
    for name in pages.list_templates():
        pages.get_template(name)
    importlib.import_module("mudra.mail.compose").EmailComposer("tests").check_all("en")


def _build_routes() -> None:
    """Builds the routes of nearly all services of tests: their workers need not."""
    routes = importlib.import_module("mudra.bootstrap.routes")
    for sandbox in (True, False):
        routes.build_ahead(Settings(sandbox=sandbox))


def _run(wanted: Wanted) -> None:
    sys.argv = [wanted.module or "mudra", *wanted.arguments]
    if not wanted.module:
        # A process apart (process_apart.py) loads the main module too: that of the program itself.
        sys.modules["__main__"].__file__ = str(Path(sys.executable).with_name("mudra"))
        importlib.import_module("tests.support.cheap_hashes").run()
        return
    if wanted.run:
        template_database.use(Path(wanted.run))
    runpy.run_module(wanted.module, run_name="__main__", alter_sys=True)


def _leave(code: int | str | None) -> NoReturn:
    """End as Python does, but do not take its modules apart: it would copy each page they are on."""
    if isinstance(code, str):
        print(code, file=sys.stderr)
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code or 0)


def _fork_for_each(channel: socket.socket) -> Wanted | None:
    """Fork and reap; gives in a fork what it is to run, None once the channel is closed."""
    fates: dict[int, int] = {}
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    while True:
        ready, _, _ = select.select([channel.fileno(), woken], [], [])
        if woken in ready:
            os.read(woken, 4096)
            _reap(fates)
        if channel.fileno() in ready:
            message, fds, _, _ = socket.recv_fds(channel, _MESSAGE_BYTES, _MAX_FDS)
            if not message:
                for pid in fates:
                    os.kill(pid, signal.SIGTERM)
                return None
            output, fate, asking, *passed = fds
            pid = os.fork()
            if pid == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for fd in (channel.detach(), woken, wake, fate, *fates.values()):
                    os.close(fd)
                return _become(msgspec.json.decode(message, type=Wanted), output, asking, passed)
            for fd in (output, asking, *passed):
                os.close(fd)
            _answer(fate, pid)
            fates[pid] = fate


def _reap(fates: dict[int, int]) -> None:
    for pid in list(fates):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            fate = fates.pop(pid)
            _answer(fate, os.waitstatus_to_exitcode(status))
            os.close(fate)


def _answer(fate: int, number: int) -> None:
    with contextlib.suppress(BrokenPipeError):  # one of those that share this process has ended
        os.write(fate, f"{number}\n".encode())


def _become(wanted: Wanted, output: int, asking: int, passed: list[int]) -> Wanted:
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    if wanted.errors:
        errors = os.open(wanted.errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(errors, 2)
        os.close(errors)
    if wanted.forks:
        # The module of that name: this one is `__main__`, which the program replaces.
        own = importlib.import_module("tests.support.preloaded_program")
        own._inherited.append(socket.socket(fileno=asking))
    else:
        os.close(asking)
    os.umask(wanted.umask)
    os.environ.clear()
    os.environ.update(wanted.environment)
    if passed:
        _pass_on(passed)
    return wanted


def _pass_on(passed: list[int]) -> None:
    """Do what systemd does between its fork and the program's start."""
    aside = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _ASIDE) for fd in passed]
    for fd in passed:
        os.close(fd)
    for number, fd in enumerate(aside):
        os.dup2(fd, _FIRST_PASSED + number)
        os.close(fd)
    os.environ |= {"LISTEN_FDS": str(len(passed)), "LISTEN_PID": str(os.getpid())}


if __name__ == "__main__":
    main()
