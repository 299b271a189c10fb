"""Processes that hold the embedded server, and what to ask of it."""

import os
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import psycopg
from tests.support.preloaded_program import ForkedProgram
from tests.support.until import PATIENCE_S

from mudra.storage.database.embedded import locks as embedded_locks

_PROGRAM = "tests.faults.postgres.held_server"
_FIRST_PASSED = 3


class Holder:
    """A process of its own that holds the server until asked to leave.

    It is forked from one that has the code loaded, unless a program is to run `before` it.
    """

    def __init__(self, data_dir, *, before=(), kind="plain"):
        end, self._end = socket.socketpair()
        with end:
            if before:
                program = Path(__file__).with_name("held_server.py")
                self.process = subprocess.Popen(
                    [*before, sys.executable, str(program), str(data_dir), kind, "0"],
                    stdin=end,
                    stdout=subprocess.PIPE,
                    text=True,
                    start_new_session=True,
                )
            else:
                words = [str(data_dir), kind, str(_FIRST_PASSED)]
                self.process = ForkedProgram(words, dict(os.environ), module=_PROGRAM, passed=[end])

    def answer(self):
        return self.process.stdout.readline().strip()

    def may_leave(self):
        self._end.close()

    def leave(self):
        self.may_leave()
        assert self.process.wait(PATIENCE_S) == 0

    def kill(self):
        self.process.kill()
        self.process.wait(PATIENCE_S)


@contextmanager
def holder(data_dir, **how):
    one = Holder(data_dir, **how)
    try:
        yield one
    finally:
        one.may_leave()
        one.process.stdout.close()
        one.process.wait(PATIENCE_S)


def is_gone(data_dir):
    return not any(
        embedded_locks.is_held(data_dir, name)
        for name in (embedded_locks.ALIVE, embedded_locks.HOLDERS)
    )


def run(url, statement):
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else None


def write_a_row(url):
    run(url, "CREATE TABLE kept AS SELECT 42 AS value")


def read_the_row(url):
    return run(url, "SELECT value FROM kept") == [(42,)]


def answers(url):
    try:
        return run(url, "SELECT 1") == [(1,)]
    except psycopg.OperationalError:
        return False


def postmaster(data_dir):
    return int((data_dir / "postgres" / "postmaster.pid").read_text().split()[0])


def status(pid, field):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return line.split()[1]
    raise KeyError(field)


def parent(data_dir):
    return int(status(postmaster(data_dir), "PPid"))


def server_uid(data_dir):
    return int(status(postmaster(data_dir), "Uid"))
