"""A service of a few members whose parts are killed under load, with a journal of what it said.

The load is on only where it shows something, and then without a pause: from the moment at which
a part is back until it is killed again. So each kill meets requests that are being answered.
"""

import contextlib
import os
import random
import signal
import threading
import time
from pathlib import Path
from typing import Final, NamedTuple

import httpx2
import psycopg
from tests.support.processes import LISTENING, socket_states
from tests.support.service import Service

from bench.entity_token import make_members
from bench.loaded_service import loaded_service
from bench.people import make_people
from bench.sizes import sized
from bench.soak_load import (
    Admin,
    Journal,
    Pusher,
    client,
    plausible_reports,
    pushes_lost_and_doubled,
    secret_versions,
)
from bench.support import copy_tree, data_directory, database_kept_up, forks
from mudra.bootstrap.node.serve import open_store
from mudra.settings.settings import Settings
from mudra.shared.unavailable import ServiceUnavailable
from mudra.storage.database.embedded.server import embedded_server

AAS: Final = 3
FIPS: Final = 2
ADMINS: Final = sized(100, 3)
WORKERS: Final = sized(3, 2)
"""Where they are killed."""
TWO_WORKERS_IN: Final = 4
"""Of so many networks one has two workers, where none of them is killed; the others have one."""
TRIES: Final = 5
RETRY_S: Final = 0.1
SOON_S: Final = 0.1
"""A part is killed so soon after it answered again, at most."""
PAUSE_S: Final = 0.02
"""Between two windows of an AA, so that those of seven days are enough."""
LOOK_S: Final = 0.04
GROWN_S: Final = 1.0
"""A supervisor waits so long before it starts a process again that lived no longer."""
GROWN_SHARE: Final = 0.9
"""Of the kills of a worker: those of one that lived so long."""
ATTEMPTS: Final = 6
"""Of one admin: what was committed without an answer is refused from then on for 5 minutes."""
MAX_WINDOWS: Final = 900
"""Of one AA: the service takes windows of seven days, which are 1,008."""
BACK_S: Final = 900.0
"""A part that does not answer by then never will; under other load a start takes long."""
_ESTABLISHED: Final = "01"


class Members(NamedTuple):
    """A data directory with members in it, of which each network gets a copy."""

    data_dir: Path
    aas: dict[str, str]
    """Secret by entity ID."""
    admins: dict[str, str]
    """Email address by entity ID."""


def make_network_members(home: Path) -> Members:
    """Make AAs that push, and members whose admins reset their secrets.

    All again where a database on a busy machine did not answer in time.
    """
    for attempt in range(TRIES):
        try:
            return _members(data_directory(str(home), f"members-{attempt}"))
        except ServiceUnavailable as error:
            print(f"the members are made once more: {error}", flush=True)
    raise RuntimeError(f"the members could not be made in {TRIES} attempts")


def _members(data_dir: Path) -> Members:
    settings = Settings(data_dir=data_dir)
    with database_kept_up(data_dir):
        aas = make_members(data_dir, AAS, "AA")
        with open_store(settings, create=False) as (conninfo, encryption):
            return Members(data_dir, aas, make_people(conninfo, encryption, settings, ADMINS))


class Network:
    """A service of a few members, its load, and what kills one part of it."""

    def __init__(
        self, home: Path, kind: str, seed: int, enough: threading.Event, members: Members
    ) -> None:
        self._kind, self._dice, self._enough = kind, random.Random(seed), enough
        self._workers = WORKERS if kind == "worker" else 1 + (seed % TWO_WORKERS_IN == 0)
        self._data_dir, self._members = home / "data", members
        copy_tree(members.data_dir, self._data_dir)
        self._journal, self._acknowledged = Journal(steady=False), 0
        self._load, self._turns = threading.Event(), threading.Semaphore(0)
        self._end = threading.Event()
        self.back_s: list[float] = []
        """From each kill until something was acknowledged again."""
        self._serving: dict[int, float] = {}
        """Workers, and since when they are known to answer."""

    def kill(self, wanted: int) -> tuple[int, list[str], list[str]]:
        """Kill so many times; gives how much was acknowledged, and what was lost and doubled."""
        with contextlib.ExitStack() as kept, contextlib.ExitStack() as stack:
            service = stack.enter_context(loaded_service(self._data_dir, self._workers, 0))
            pushing, resetting = self._actors(service.root)
            for actor in (*pushing, resetting):
                actor.start()
            self._wait_for_more(time.monotonic())
            while (
                len(self.back_s) < wanted
                and all(actor.is_alive() for actor in pushing)
                and not self._enough.is_set()
            ):
                service = self._kill_once(service, stack)
            self._end.set()
            self._load.set()
            self._turns.release()
            for actor in (*pushing, resetting):
                actor.join(BACK_S)
                assert not actor.is_alive(), f"waits in vain: {dict(self._journal.statuses)}"
            useless = self._secrets_that_do_not_work(service.root)
            kept.enter_context(database_kept_up(self._data_dir))
            stack.close()
            done, missing, doubled = self._compare()
        return done, useless + missing, doubled

    def keep(self, where: Path) -> None:
        """Keep the data of a network in which something was lost or doubled."""
        copy_tree(self._data_dir, where)

    @property
    def statuses(self) -> dict[str, int]:
        """Returns the answers by kind and status."""
        return {f"{kind} {what}": n for (kind, _, what), n in self._journal.statuses.items()}

    def _actors(self, root: str) -> tuple[list[threading.Thread], threading.Thread]:
        """Return those that push, one more than there are workers as far as there are AAs."""
        models = plausible_reports(FIPS, random.Random(0))
        self._pushers = [
            Pusher(root, aa, secret, models, self._journal, RETRY_S)
            for aa, secret in list(self._members.aas.items())[: 1 + self._workers]
        ]
        self._admins = [
            Admin(root, one, email, self._journal) for one, email in self._members.admins.items()
        ]
        pushing = [
            threading.Thread(target=self._push, args=[one], daemon=True) for one in self._pushers
        ]
        return pushing, threading.Thread(target=self._reset, daemon=True)

    def _kill_once(self, service: Service, stack: contextlib.ExitStack) -> Service:
        """Kill the part under load and wait until it is back; gives the service that is there."""
        victim = self._wait_for_victim(service, grown=self._dice.random() < GROWN_SHARE)
        self._load.set()
        time.sleep(self._dice.uniform(0, SOON_S))
        began = time.monotonic()
        os.kill(victim, signal.SIGKILL)
        self._load.clear()
        if self._kind == "supervisor":
            service.process.wait(BACK_S)
            stack.close()
            service = self._start_again(int(service.root.rpartition(":")[2]), stack)
        else:
            self._wait_for_victim(service, victim)
        self._wait_for_more(began)
        self.back_s.append(time.monotonic() - began)
        return service

    def _start_again(self, port: int, stack: contextlib.ExitStack) -> Service:
        """Start the service as its operator's systemd does: once more where a start fails.

        A database that does not answer in time, on a machine with much else to do, ends a start.
        """
        for _ in range(TRIES):
            try:
                return stack.enter_context(loaded_service(self._data_dir, self._workers, port))
            except AssertionError as error:
                self._journal.statuses["start", False, "failed"] += 1
                print(f"{self._kind}: one start failed: {str(error)[:300]}", flush=True)
        raise RuntimeError(f"the service did not start in {TRIES} attempts")

    def _wait_for_victim(self, service: Service, former: int = 0, *, grown: bool = False) -> int:
        """Return the process to be killed, once the one of `former` has a successor."""
        began = time.monotonic()
        while (pid := self._victim(service, former, grown=grown)) == 0:
            self._load.clear()
            assert time.monotonic() < began + BACK_S, f"not replaced: {self._kind}"
            time.sleep(LOOK_S)
        return pid

    def _victim(self, service: Service, former: int, *, grown: bool) -> int:
        with contextlib.suppress(OSError, ValueError, IndexError):
            if self._kind == "supervisor":
                return service.process.pid
            if self._kind == "PostgreSQL":
                file = self._data_dir / "postgres" / "postmaster.pid"
                pid = int(file.read_text().split()[0])
                return pid if pid != former else 0
            return self._worker(service, former, grown=grown)
        return 0

    def _worker(self, service: Service, former: int, *, grown: bool) -> int:
        """Return a worker that holds connections; 0 while there are not all."""
        port, now = int(service.root.rpartition(":")[2]), time.monotonic()
        states = socket_states(forks(service.process.pid), port)
        workers = {pid: held for pid, held in states.items() if LISTENING in held}
        self._serving = {
            pid: self._serving.get(pid, now)
            for pid, held in workers.items()
            if _ESTABLISHED in held or pid in self._serving
        }
        if former in workers or len(workers) < self._workers:
            return 0
        least = GROWN_S if grown else 0.0
        found = [
            pid
            for pid, since in self._serving.items()
            if now - since >= least and _ESTABLISHED in workers[pid]
        ]
        return self._dice.choice(found) if found else 0

    def _wait_for_more(self, began: float) -> None:
        before = self._acknowledged
        self._load.set()
        self._turns.release()
        while self._acknowledged == before:
            said = dict(self._journal.statuses)
            assert time.monotonic() < began + BACK_S, f"{self._kind} never came back: {said}"
            time.sleep(0.01)

    def _push(self, pusher: Pusher) -> None:
        for _ in range(MAX_WINDOWS):
            self._load.wait()
            if self._end.wait(PAUSE_S):
                return
            pusher.push()
            self._acknowledged += 2

    def _reset(self) -> None:
        """Reset once for each kill, while the load is on."""
        for admin in self._admins:
            for _ in range(ATTEMPTS):
                self._turns.acquire()
                if self._end.is_set():
                    return
                admin.reset()
                if admin.acknowledged:
                    self._acknowledged += 1
                    break

    def _secrets_that_do_not_work(self, root: str) -> list[str]:
        """Ask for a token with each secret that an admin was given last."""
        found = []
        with client(root) as http:
            for one in self._admins:
                if one.acknowledged:
                    answer = answer_to_secret(http, one)
                    if answer.status_code != httpx2.codes.OK:
                        said = f"{answer.status_code} {answer.text[:200]}"
                        found.append(f"the secret of {one.entity_id} is answered {said}")
        return found

    def _compare(self) -> tuple[int, list[str], list[str]]:
        with embedded_server(self._data_dir) as url, psycopg.connect(url) as connection:
            pushes = pushes_lost_and_doubled(connection, self._pushers)
            versions = secret_versions(connection)
        lost, doubled = ([f"{number} of the pushes"] * number for number in pushes)
        for admin in self._admins:
            resets, known = versions[admin.entity_id] - 1, len(admin.acknowledged)
            shown = (
                f"{admin.entity_id}: {resets} resets, {known} acknowledged, {admin.unsure} unsure"
            )
            lost += [shown] * (resets < known)
            doubled += [shown] * (resets > known + admin.unsure)
        done = sum(len(one.acknowledged) for one in self._pushers)
        done += sum(len(one.acknowledged) for one in self._admins)
        return done, lost, doubled


def answer_to_secret(http: httpx2.Client, admin: Admin) -> httpx2.Response:
    """Ask until something is said of the secret: who answers 503 says nothing of it."""
    form = {"id": admin.entity_id, "secret": admin.acknowledged[-1]}
    began = time.monotonic()
    while True:
        with contextlib.suppress(httpx2.TransportError):
            answer = http.post("/iam/v1/entity/token/generate", data=form)
            if answer.status_code < httpx2.codes.INTERNAL_SERVER_ERROR:
                return answer
        assert time.monotonic() < began + BACK_S, "no answer to an entity's secret"
        time.sleep(RETRY_S)
