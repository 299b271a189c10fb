"""The processes of one node: workers with a socket each, and one for jobs.

A parent that holds no connections forks them, starts again those that die, and
stops them. They stop by themselves when it is gone (a pipe that only it holds
open ends).
"""

import contextlib
import gc
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import structlog

_STOP_S: Final = 35.0
_SOONEST_RESTART_S: Final = 1.0

_log = structlog.get_logger()

Body = Callable[[int, Callable[[], None]], None]
"""What a child does: takes the parent_pipe's file descriptor and a call that reports ready."""


class CannotListen(Exception):
    """The address to listen on cannot be had: the text names it and the way out."""


@dataclass
class _Child:
    name: str
    body: Body
    pid: int = 0
    started_at: float = 0.0


@dataclass
class Supervisor:
    """Forks the children and looks after them; `run` returns when all have ended."""

    children: list[_Child] = field(default_factory=list)
    _stopping: bool = False

    def add(self, name: str, body: Body) -> None:
        """Say what a child is to do."""
        self.children.append(_Child(name, body))

    def run(self, on_ready: Callable[[], None]) -> int:
        """Start all, call `on_ready` when all are ready, and restart those that die, until stopped.

        Returns the exit code: 1 when a child could not even start.
        """
        parent_pipe, hold = os.pipe()
        report, reported = os.pipe()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._stop)
        gc.freeze()
        gc.enable()
        for child in self.children:
            self._start(child, parent_pipe, hold, reported)
        ready = self._wait_until_ready(report)
        if ready:
            on_ready()
            self._look_after(parent_pipe, hold, reported)
        self._end()
        return 0 if ready else 1

    def _stop(self, *_: object) -> None:
        self._stopping = True
        self._signal_all(signal.SIGTERM)

    def _start(self, child: _Child, parent_pipe: int, hold: int, reported: int) -> None:
        child.started_at = time.monotonic()
        child.pid = os.fork()
        if child.pid:
            return
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        # Ctrl-C reaches the whole group; the supervisor alone decides.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        os.close(hold)
        code = 1
        try:
            child.body(parent_pipe, lambda: _tell(reported))
            code = 0
        except BaseException:  # noqa: BLE001  # a child must not return into the parent's code
            _log.exception("process ended", name=child.name)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def _wait_until_ready(self, report: int) -> bool:
        os.set_blocking(report, False)
        heard = 0
        while heard < len(self.children) and not self._stopping:
            with contextlib.suppress(BlockingIOError):
                heard += len(os.read(report, 16))
            ended, _ = os.waitpid(-1, os.WNOHANG)
            if ended:
                self._forget(ended)
                return False
            time.sleep(0.005)
        return not self._stopping

    def _look_after(self, parent_pipe: int, hold: int, reported: int) -> None:
        while not self._stopping:
            try:
                ended, status = os.waitpid(-1, 0)
            except InterruptedError:
                continue
            except ChildProcessError:
                return
            child = self._forget(ended)
            if child is None or self._stopping:
                continue
            _log.error("process died, starting it again", name=child.name, status=status)
            lived = time.monotonic() - child.started_at
            if lived < _SOONEST_RESTART_S:
                time.sleep(_SOONEST_RESTART_S)
            self._start(child, parent_pipe, hold, reported)

    def _forget(self, pid: int) -> _Child | None:
        for child in self.children:
            if child.pid == pid:
                child.pid = 0
                return child
        return None

    def _end(self) -> None:
        self._stopping = True
        self._signal_all(signal.SIGTERM)
        deadline = time.monotonic() + _STOP_S
        while any(child.pid for child in self.children):
            with contextlib.suppress(ChildProcessError):
                ended, _ = os.waitpid(-1, os.WNOHANG)
                if ended:
                    self._forget(ended)
                    continue
            if time.monotonic() > deadline:
                self._signal_all(signal.SIGKILL)
                return
            time.sleep(0.01)

    def _signal_all(self, number: int) -> None:
        for child in self.children:
            if child.pid:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child.pid, number)


def _tell(reported: int) -> None:
    os.write(reported, b"r")


def listeners(host: str, port: int, count: int) -> list[socket.socket]:
    """Open `count` sockets on one port, one for each worker (SO_REUSEPORT).

    The port is tried without sharing first: otherwise a second Mudra would
    quietly take half of the first one's requests.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
            taken = probe.getsockname()[1]
        return [_shared(family, host, taken) for _ in range(count)]
    except OSError as error:
        raise CannotListen(
            f"cannot listen on {host}:{port}: {error.strerror}; "
            "set MUDRA_PORT (or --port) to a free one, or stop what listens there"
        ) from error


def _shared(family: int, host: str, port: int) -> socket.socket:
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.bind((host, port))
    listener.set_inheritable(False)
    return listener
