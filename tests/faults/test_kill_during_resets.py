"""kill -9 of a worker, of the supervisor and of PostgreSQL while secrets are reset (F1, S5, S6).

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

import httpx
import psycopg
import pytest
from tests.support.processes import children
from tests.support.service import NO_TLS, Member, Service, new_member, running_service

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

    def reset_without_pause(self, stop: threading.Event, first: threading.Event) -> None:
        """Ask for resets until asked to stop; most are refused, which is fine.

        Sets `first` once one is acknowledged.
        """
        url = self.member.service.issuer + "/v1/entity/secret/reset"
        while not stop.is_set():
            try:
                answer = httpx.post(
                    url,
                    json={"entityId": self.member.entity_id},
                    headers=self.headers,
                    timeout=10,
                    verify=NO_TLS,
                    trust_env=False,
                )
            except httpx.TransportError:
                continue
            self.statuses.append(answer.status_code)
            if answer.status_code == 200:
                self.acknowledged.append(answer.json()["secret"])
                first.set()


def alive(pid: int) -> bool:
    """Whether a process runs; one that only waits to be buried does not."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def oldest_process_of(service: Service) -> int:
    """Workers and jobs come in turn, since each that is killed is replaced by a younger one."""
    return children(service.process.pid)[0]


def postmaster_of(service: Service) -> int:
    return int((service.data_dir / "postgres" / "postmaster.pid").read_text().split()[0])


def ready(service: Service) -> bool:
    try:
        return httpx.get(f"{service.root}/readyz", timeout=2, verify=NO_TLS).status_code == 200
    except httpx.TransportError:
        return False


def wait_until_ready(service: Service) -> None:
    """How soon is a figure of `bench/start`: here other tests take the processor, too."""
    deadline = time.monotonic() + 30
    while not ready(service):
        assert time.monotonic() < deadline, "it never came back"
        time.sleep(0.02)


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
            answer = httpx.post(
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


@pytest.fixture(scope="module")
def crashing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service of two workers that is killed in parts."""
    with running_service(tmp_path_factory.mktemp("kill") / "data", "--workers", "2") as running:
        yield running


@pytest.fixture(scope="module")
def members(crashing: Service) -> list[tuple[Member, dict[str, str]]]:
    made = [new_member(crashing) for _ in range(MEMBERS)]
    return [(member, member.bearer()) for member in made]


@pytest.mark.parametrize("number", MOMENTS)
@pytest.mark.parametrize("victim", ["process", "postgres"])
def test_no_acknowledged_reset_is_lost_when_a_part_is_killed(
    crashing: Service,
    members: list[tuple[Member, dict[str, str]]],
    victim: str,
    number: int,
) -> None:
    crashing.advance("P1D")
    before = {m.entity_id: m.read(h).json()["secret"] for m, h in members}
    journals = [Journal(m, h) for m, h in members]
    pid = oldest_process_of(crashing) if victim == "process" else postmaster_of(crashing)

    kill_while_resetting(journals, lambda: os.kill(pid, signal.SIGKILL), 0.005 * 2**number)
    wait_until_ready(crashing)

    check(journals, before)
    rows_are_whole(crashing)


@pytest.mark.parametrize("after_s", [0.02, pytest.param(0.08, marks=pytest.mark.slow)])
def test_no_acknowledged_reset_is_lost_when_the_whole_service_is_killed(
    tmp_path: Path, after_s: float
) -> None:
    with running_service(tmp_path / "data", "--workers", "2") as service:
        made = [new_member(service) for _ in range(MEMBERS)]
        journals = [Journal(member, member.bearer()) for member in made]
        before = {j.member.entity_id: j.member.read(j.headers).json()["secret"] for j in journals}
        orphans = children(service.process.pid)
        kill_while_resetting(
            journals, lambda: os.kill(service.process.pid, signal.SIGKILL), after_s
        )
        service.process.wait(30)
        service.wait_until(lambda: not any(map(alive, orphans)), 60)
        port = int(service.root.rpartition(":")[2])

    with running_service(tmp_path / "data", "--workers", "2", port=port) as again:
        wait_until_ready(again)
        for journal in journals:
            journal.member = replace(journal.member, service=again, client=again.client())
        check(journals, before)
        rows_are_whole(again)
