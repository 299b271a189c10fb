"""Processes that hold the embedded server, and what to ask of it."""

import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import psycopg

from mudra.storage.database.embedded import locks as embedded_locks

HOLDER = """
import os, sys
from pathlib import Path
from mudra.storage.database.embedded.server import EmbeddedServerError, embedded_server
try:
    with embedded_server(Path(sys.argv[1])) as url:
        if sys.argv[2] == "forks" and (child := os.fork()):
            print(url, child, flush=True)
        elif sys.argv[2] != "forks":
            print(url, flush=True)
        sys.stdin.read()
        if sys.argv[2] == "forks" and not child:
            os._exit(0)
except EmbeddedServerError as error:
    print(f"refused: {error}", flush=True)
"""


class Holder:
    """A process of its own that holds the server until asked to leave."""

    def __init__(self, data_dir, *, before=(), kind="plain"):
        self.process = subprocess.Popen(
            [*before, sys.executable, "-c", HOLDER, str(data_dir), kind],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def answer(self):
        return self.process.stdout.readline().strip()

    def leave(self):
        self.process.stdin.close()
        assert self.process.wait(30) == 0

    def kill(self):
        self.process.kill()
        self.process.wait(30)


@contextmanager
def holder(data_dir, **how):
    one = Holder(data_dir, **how)
    try:
        yield one
    finally:
        one.process.stdin.close()
        one.process.stdout.close()
        one.process.wait(30)


def is_gone(data_dir):
    return not any(
        embedded_locks.is_held(data_dir, name)
        for name in (embedded_locks.ALIVE, embedded_locks.SUPERVISOR, embedded_locks.HOLDERS)
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


def supervisor(data_dir):
    return int(status(postmaster(data_dir), "PPid"))


def server_uid(data_dir):
    return int(status(postmaster(data_dir), "Uid"))
