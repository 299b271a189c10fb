"""The processes of one node: workers with a socket each, and one for jobs.

A parent that holds no connections forks them, starts again those that die, and
stops them. They stop by themselves when it is gone (a pipe that only it holds
open ends).
"""

import contextlib
import gc
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import structlog

from mudra.bootstrap.node.cannot_listen import CannotListen
from mudra.bootstrap.node.heartbeat import EVERY_S, Heartbeats, Report
from mudra.bootstrap.node.notifier import Notifier

DATABASE: Final = "database"
"""The name of PostgreSQL among the processes."""
STOP_S: Final = 35.0
"""How long children may take to stop, besides the pause."""
_SOONEST_RESTART_S: Final = 1.0
_MOST_SIGNALS: Final = 4096
_KILLED_S: Final = 5.0
"""How long a process that was killed may take to end: until then it holds the database."""
_LINGERS_S: Final = 0.1
"""How long the last sessions of a PostgreSQL that was killed need to end."""
_STOPPED_BY: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

_log = structlog.get_logger()

Body = Callable[[int, Report], None]
"""What a child does: takes the parent_pipe's file descriptor, and what it reports to."""


class SignalWait:
    """Between `open` and `close` no signal is missed: one that came before the wait ends it."""

    def __init__(self) -> None:
        self._woken = self._wake = -1

    def open(self) -> None:
        """Note signals from now on, in the main thread."""
        self._woken, self._wake = os.pipe()
        for end in (self._woken, self._wake):
            os.set_blocking(end, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # one that is ignored wakes no one
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)

    def close(self) -> None:
        """End it in a child, whose signals are its own."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.close(self._woken)
        os.close(self._wake)

    def wait(self, seconds: float, *also: int) -> None:
        """Return after a signal, when one of the descriptors can be read, or after `seconds`."""
        select.select([self._woken, *also], [], [], max(0.0, seconds))
        with contextlib.suppress(BlockingIOError):
            while os.read(self._woken, _MOST_SIGNALS):
                pass


@dataclass
class _Child:
    name: str
    body: Body
    place: int
    serves: bool
    pid: int = 0
    started_at: float = 0.0
    hung: bool = False


@dataclass
class Supervisor:
    """Forks the children and looks after them; `run` returns when all have ended."""

    stop_s: float = STOP_S
    listeners: Sequence[socket.socket] = ()
    """Closed here when a stop begins: a socket that anyone holds open is one that listens."""
    restart_database: Callable[[], bool] = lambda: False
    """Starts the embedded PostgreSQL, one more child, where it has died; returns whether it did."""
    children: list[_Child] = field(default_factory=list)
    on_restart: Callable[[str, str], None] = lambda _name, _cause: None
    """Takes the name of a process that is started again, and `died` or `hung`."""
    on_end: Callable[[str, int], None] = lambda _name, _pid: None
    """Takes the name and the ID of a process that has ended."""
    on_check: Callable[[int, float], None] = lambda _serving, _seconds: None
    """Takes how many workers serve, once a second while it runs, and the seconds since before."""
    before_serving: Callable[[], None] = lambda: None
    """Makes what all that serve share, while the others start."""
    notifier: Notifier = field(default_factory=Notifier)
    _stopping: bool = False
    _beats: Heartbeats = field(default_factory=Heartbeats)
    _signals: SignalWait = field(default_factory=SignalWait)
    _next_check: float = 0.0
    _checked_at: float = 0.0
    _database_at: float = 0.0
    """When PostgreSQL is looked for next: each second, and soon after an end of it."""
    _restarted: bool = False
    """Whether it was started again a second ago: then its end does not count as the first."""

    def add(self, name: str, body: Body, *, serves: bool = False) -> None:
        """Adds what a child is to do, and whether it answers requests."""
        self.children.append(_Child(name, body, len(self.children), serves))

    def processes(self) -> Mapping[str, int]:
        """Return the IDs of the processes that run, by name."""
        running = {child.name: child.pid for child in self.children if child.pid}
        return {"supervisor": os.getpid(), **running}

    def run(self, on_ready: Callable[[], None]) -> int:
        """Start all, call `on_ready` when all are ready, and restart those that die, until stopped.

        Returns the exit code: 1 when a child could not even start.
        """
        parent_pipe, hold = os.pipe()
        report, reported = os.pipe()
        for number in _STOPPED_BY:
            signal.signal(number, self._stop)
        self._signals.open()
        gc.freeze()
        gc.enable()
        for child in self.children:
            if not child.serves:
                self._start(child, parent_pipe, hold, reported)
        self.before_serving()
        gc.freeze()
        for child in self.children:
            if child.serves:
                self._start(child, parent_pipe, hold, reported)
        ready = self._wait_until_ready(report)
        if ready:
            self._checked_at = time.monotonic()
            on_ready()
            self._look_after(parent_pipe, hold, reported)
        self._end()
        return 0 if ready else 1

    def _stop(self, *_: object) -> None:
        if not self._stopping:
            self.notifier.stopping()
        self._stopping = True
        for listener in self.listeners:
            listener.close()
        self._signal(signal.SIGTERM)

    def _start(self, child: _Child, parent_pipe: int, hold: int, reported: int) -> None:
        child.started_at = time.monotonic()
        self._beats.begin(child.place)
        # A signal for a child waits until the child has its own ways: the supervisor's, which it
        # still has when it begins, would take it for nothing.
        unblocked = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPPED_BY)
        child.pid = os.fork()
        if child.pid:
            signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)
            if self._stopping:  # it was not yet among those that the stop reached
                os.kill(child.pid, signal.SIGTERM)
            return
        self._signals.close()
        for number in _STOPPED_BY:
            signal.signal(number, signal.SIG_DFL)
        # Ctrl-C reaches the whole group; the supervisor alone decides.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)
        os.close(hold)
        code = 1
        try:
            child.body(parent_pipe, Report(reported, self._beats, child.place))
            code = 0
        except BaseException:  # noqa: BLE001  # a child must not return into the parent's code
            _log.exception("process ended", name=child.name)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def _wait_until_ready(self, report: int) -> bool:
        os.set_blocking(report, False)
        ready_children = 0
        while ready_children < len(self.children) and not self._stopping:
            with contextlib.suppress(BlockingIOError):
                ready_children += len(os.read(report, 16))
            ended, _ = os.waitpid(-1, os.WNOHANG)
            if ended and self._forget(ended) is not None:
                return False
            self._wait(report)
        return not self._stopping

    def _look_after(self, parent_pipe: int, hold: int, reported: int) -> None:
        while not self._stopping:
            try:
                ended, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not ended:
                self._wait()
                continue
            child = self._forget(ended)
            if child is None and not self._restarted:
                self._database_at = time.monotonic() + _LINGERS_S
            if child is None or self._stopping:
                continue
            _log.error("process died, starting it again", name=child.name, status=status)
            self.on_restart(child.name, "hung" if child.hung else "died")
            child.hung = False
            lived = time.monotonic() - child.started_at
            if lived < _SOONEST_RESTART_S:
                time.sleep(_SOONEST_RESTART_S)
            if not self._stopping:
                self._start(child, parent_pipe, hold, reported)

    def _wait(self, *also: int) -> None:
        """Wait for a signal or a descriptor, and check the children once a second."""
        now = time.monotonic()
        if now >= self._database_at:
            self._database_at = now + EVERY_S
            self._restarted = self.restart_database()
            if self._restarted:
                self.on_restart(DATABASE, "died")
        left = min(self._next_check, self._database_at) - now
        if left > 0:
            self._signals.wait(left, *also)
            return
        self._kill_hung()
        workers = [child for child in self.children if child.serves]
        serving, now = sum(map(self._is_serving, workers)), time.monotonic()
        self.notifier.serving(serving, len(workers))
        if self._checked_at and not self._stopping:
            self.on_check(serving, now - self._checked_at)
            self._checked_at = now
        self._next_check = now + EVERY_S

    def _is_serving(self, child: _Child) -> bool:
        return child.pid > 0 and not child.hung and self._beats.is_alive(child.place)

    def _kill_hung(self) -> None:
        """End processes that do nothing any more but keep their connections.

        Also while they start or stop, so that neither waits for one that never will.
        """
        for child in self.children:
            if child.pid and not child.hung and self._beats.is_hung(child.place, child.pid):
                _log.error("process is hung, killing it", name=child.name, pid=child.pid)
                child.hung = True
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child.pid, signal.SIGKILL)

    def _forget(self, pid: int) -> _Child | None:
        for child in self.children:
            if child.pid == pid:
                self.on_end(child.name, pid)
                child.pid = 0
                return child
        return None

    def _end(self) -> None:
        if not self._stopping:
            self._stop()
        deadline, killed = time.monotonic() + self.stop_s, False
        while any(child.pid for child in self.children):
            with contextlib.suppress(ChildProcessError):
                ended, _ = os.waitpid(-1, os.WNOHANG)
                if ended:
                    self._forget(ended)
                    continue
            if time.monotonic() > deadline:
                if killed:
                    return
                self._signal(signal.SIGKILL)
                deadline, killed = time.monotonic() + _KILLED_S, True
            self._wait()

    def _signal(self, number: int) -> None:
        for child in self.children:
            if child.pid:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child.pid, number)


def listeners(host: str, port: int, count: int) -> list[socket.socket]:
    """Open `count` sockets on one port, one for each worker (SO_REUSEPORT), and last a claim to it.

    Otherwise a second Mudra would quietly take half of the first one's requests. One that listens
    is found by a trial without sharing; one that does not listen yet, by its claim.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
            taken = probe.getsockname()[1]
        claim = _claim(host, taken)
        return [*(_shared(family, host, taken) for _ in range(count)), claim]
    except OSError as error:
        raise CannotListen(
            f"cannot listen on {host}:{port}: {error.strerror}; "
            "set MUDRA_PORT (or --port) to a free one, or stop what listens there"
        ) from error


def _claim(host: str, port: int) -> socket.socket:
    """Take an abstract name that one process at a time can have, until it closes it or ends."""
    claim = socket.socket(socket.AF_UNIX)
    claim.bind(f"\0mudra serve {host}:{port}")
    return claim


def _shared(family: int, host: str, port: int) -> socket.socket:
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.bind((host, port))
    listener.set_inheritable(False)
    return listener
