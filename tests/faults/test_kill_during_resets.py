"""kill -9 of a worker, of the supervisor and of PostgreSQL while secrets are reset.

A journal keeps every answer that came. Afterwards what reading shows must be
the last acknowledged secret, or one that was committed while its answer was
lost; never nothing, never an older one, never a half.
"""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import httpx2
import psycopg
import pytest
from tests.support.http_clients import NO_TLS
from tests.support.members import Member, new_member
from tests.support.process import running_service
from tests.support.processes import children, forked_by, is_alive
from tests.support.service import Service
from tests.support.until import until

from mudra.storage.database.embedded.server import embedded_server

MEMBERS = 3
MOMENTS = [2, *(pytest.param(n, marks=pytest.mark.slow) for n in (0, 1, 3, 4))]
"""Powers of two: how many times 5 ms after the first acknowledged reset something is killed."""


@dataclass
class Journal:
    """What one member's admin was answered."""

    member: Member
    headers: dict[str, str]
    acknowledged: list[str] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)

    def speak_to(self, service: Service) -> None:
        """Speak to a service that was started again."""
        self.member = replace(self.member, service=service, client=service.client())

    def reset_without_pause(self, stop: threading.Event, first: threading.Event) -> None:
        """Ask for resets until asked to stop; most are refused, which is fine.

        Sets `first` once one is acknowledged.
        """
        url = self.member.service.issuer + "/v1/entity/secret/reset"
        while not stop.is_set():
            try:
                answer = httpx2.post(
                    url,
                    json={"entityId": self.member.entity_id},
                    headers=self.headers,
                    timeout=10,
                    verify=NO_TLS,
                    trust_env=False,
                )
            except httpx2.TransportError:
                continue
            self.statuses.append(answer.status_code)
            if answer.status_code == 200:
                self.acknowledged.append(answer.json()["secret"])
                first.set()


def secrets_of(journals: list[Journal]) -> dict[str, str]:
    """What reading shows, by entity."""
    return {
        journal.member.entity_id: journal.member.read(journal.headers).json()["secret"]
        for journal in journals
    }


def oldest_process_of(service: Service) -> int:
    """Workers and jobs come in turn, since each that is killed is replaced by a younger one."""
    return min(forked_by(service.process.pid).values())


def postmaster_of(service: Service) -> int:
    return int((service.data_dir / "postgres" / "postmaster.pid").read_text().split()[0])


def ready(service: Service) -> bool:
    try:
        return httpx2.get(f"{service.root}/readyz", timeout=2, verify=NO_TLS).status_code == 200
    except httpx2.TransportError:
        return False


def wait_until_ready(service: Service) -> None:
    """How soon is a figure of `bench/start`: here other tests take the processor, too."""
    until(lambda: ready(service))


def check(journals: list[Journal], before: dict[str, str]) -> None:
    """Compare what is there with what was acknowledged, which is one reset at least."""
    assert any(journal.acknowledged for journal in journals)
    for journal in journals:
        member = journal.member
        shown = member.read(journal.headers).json()["secret"]
        assert len(journal.acknowledged) <= 1  # the wait of 5 minutes outlives every kill
        if journal.acknowledged:
            assert shown == journal.acknowledged[0]
        for candidate, works in ((before[member.entity_id], False), (shown, True)):
            if candidate == shown and not works:
                continue  # no reset of this member was committed
            answer = httpx2.post(
                f"{member.service.issuer}/v1/entity/token/generate",
                data={"id": member.entity_id, "secret": candidate},
                timeout=10,
                verify=NO_TLS,
            )
            assert (answer.status_code == 200) == works
        assert set(journal.statuses) <= {200, 429, 503}


def rows_are_whole(service: Service) -> None:
    """Exactly one current secret each, and an audit row for every version."""
    with embedded_server(service.data_dir) as conninfo, psycopg.connect(conninfo) as connection:
        halves = connection.execute(
            "SELECT entity_id FROM entity_secret GROUP BY entity_id"
            " HAVING count(*) FILTER (WHERE state = 'current' AND sealed IS NOT NULL) <> 1"
        ).fetchall()
        unseen = connection.execute(
            "SELECT entity_id, version FROM entity_secret s WHERE version > 1 AND NOT EXISTS"
            " (SELECT 1 FROM audit_event a WHERE a.entity_id = s.entity_id"
            "  AND a.event LIKE '%reset' AND (a.detail ->> 'version')::int = s.version)"
        ).fetchall()
    assert (halves, unseen) == ([], [])


def kill_while_resetting(journals: list[Journal], kill: Callable[[], None], after_s: float) -> None:
    """Kill so many seconds after the first acknowledged reset, while others are under way."""
    stop, first = threading.Event(), threading.Event()
    threads = [
        threading.Thread(target=journal.reset_without_pause, args=[stop, first])
        for journal in journals
    ]
    for thread in threads:
        thread.start()
    try:
        assert first.wait(30), "no reset is acknowledged"
        time.sleep(after_s)
        kill()
    finally:
        stop.set()
        for thread in threads:
            thread.join(30)


class Crashing:
    """A service of two workers that is killed in parts, and as a whole."""

    def __init__(self, data_dir: Path, stack: contextlib.ExitStack) -> None:
        self._data_dir, self._stack = data_dir, stack
        self.service = self._start(0)

    def start_again(self) -> None:
        """Start once more what was killed."""
        port = int(self.service.root.rpartition(":")[2])
        self._stack.close()
        self.service = self._start(port)

    def _start(self, port: int) -> Service:
        return self._stack.enter_context(
            running_service(self._data_dir, "--workers", "2", port=port)
        )


@pytest.fixture(scope="module")
def crashing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crashing]:
    with contextlib.ExitStack() as stack:
        yield Crashing(tmp_path_factory.mktemp("kill") / "data", stack)


@pytest.fixture(scope="module")
def members(crashing: Crashing) -> list[tuple[Member, dict[str, str]]]:
    made = [new_member(crashing.service) for _ in range(MEMBERS)]
    return [(member, member.bearer()) for member in made]


@pytest.fixture
def journals(crashing: Crashing, members: list[tuple[Member, dict[str, str]]]) -> list[Journal]:
    """Of members who may reset today."""
    crashing.service.advance("P1D")
    found = [Journal(member, headers) for member, headers in members]
    for journal in found:
        journal.speak_to(crashing.service)
    return found


@pytest.mark.parametrize("number", MOMENTS)
@pytest.mark.parametrize("victim", ["process", "postgres"])
def test_no_acknowledged_reset_is_lost_when_a_part_is_killed(
    crashing: Crashing, journals: list[Journal], victim: str, number: int
) -> None:
    service, before = crashing.service, secrets_of(journals)
    pid = oldest_process_of(service) if victim == "process" else postmaster_of(service)

    kill_while_resetting(journals, lambda: os.kill(pid, signal.SIGKILL), 0.005 * 2**number)
    wait_until_ready(service)

    check(journals, before)
    rows_are_whole(service)


@pytest.mark.parametrize("after_s", [0.02, 0.08])
@pytest.mark.slow
def test_no_acknowledged_reset_is_lost_when_the_whole_service_is_killed(
    crashing: Crashing, journals: list[Journal], after_s: float
) -> None:
    service, before = crashing.service, secrets_of(journals)
    orphans = children(service.process.pid)

    kill_while_resetting(journals, lambda: os.kill(service.process.pid, signal.SIGKILL), after_s)
    service.process.wait(30)
    service.wait_until(lambda: not any(map(is_alive, orphans)))
    crashing.start_again()
    wait_until_ready(crashing.service)

    for journal in journals:
        journal.speak_to(crashing.service)
    check(journals, before)
    rows_are_whole(crashing.service)
