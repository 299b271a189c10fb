"""The registration forms have the limits of the registry's API (0074): signed in, limited, checked."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from threading import current_thread
from time import monotonic
from typing import Any

import httpx2
import psycopg
import pytest
from msgspec.structs import replace
from tests.faults.statements.world import AA, ADMINS, FIP, FIU, PASSWORD, set_up
from tests.support.database.template_database import prepare
from tests.support.error_body import assert_error
from tests.support.in_process import InProcess, in_process
from tests.support.people.console import SAME_ORIGIN, Reader
from tests.support.until import PATIENCE_S, until

from mudra.bootstrap.node.serve import open_store
from mudra.http.dependencies import SandboxNotice
from mudra.settings.settings import Settings
from mudra.shared.waiting.fair_queue import Queue
from mudra.shared.waiting.rate_limit import KeyedRateLimit

CONNECTIONS = 4
AT_ONCE = 12
WRITES = 3
FRAGMENT = {"HX-Request": "true"}
READ = "LOCK TABLE registry_entity IN ACCESS EXCLUSIVE MODE"
WAITING = "SELECT FROM pg_stat_activity WHERE %s = ANY(pg_blocking_pids(pid))"


def page_of(entity_id: str) -> str:
    return f"/console/entity/{entity_id}/registration"


@dataclass
class Served:
    """A worker with few connections."""

    worker: InProcess
    conninfo: str

    def reader(self, entity_id: str) -> Reader:
        browser = Reader(self.worker.client(), "")
        assert browser.sign_in(ADMINS[entity_id], PASSWORD).status_code == 303
        return browser

    def check(self, browser: Reader, entity_id: str, act: str = "check") -> httpx2.Response:
        page = page_of(entity_id)
        sent = {"csrf_token": browser.word(page), "payload": "{}"}
        return browser.post(f"{page}/{act}", sent, **FRAGMENT)

    def having(self, **parts: object) -> "Served":
        """The same worker with other parts of its edge."""
        edge = self.worker.edge
        http = replace(edge.http, **parts)
        return Served(InProcess(self.worker.loop, replace(edge, http=http)), self.conninfo)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    settings = Settings(
        data_dir=tmp_path_factory.mktemp("limits") / "data",
        sandbox=True,
        registry_writes_per_hour=WRITES,
    )
    prepare(settings.data_dir)
    with (
        open_store(settings, create=True) as opened,
        in_process(settings, *opened, connections=CONNECTIONS) as one,
    ):
        one.do(set_up(one.edge.dependencies))
        yield Served(one, opened[0])


def test_one_check_of_a_person_has_a_connection_at_a_time(served: Served) -> None:
    """While the database keeps the first of twelve waiting, others still get their pages."""
    browser, other, page = served.reader(FIU), served.reader(FIP), page_of(FIU)
    sent = {"csrf_token": browser.word(page), "payload": "{}"}
    asked = [
        browser.client.build_request("POST", f"{page}/check", data=sent, headers=SAME_ORIGIN)
        for _ in range(AT_ONCE)
    ]

    async def all_of_them() -> list[httpx2.Response]:
        return await asyncio.gather(*(served.worker.handled(one) for one in asked))

    with (
        psycopg.connect(served.conninfo, autocommit=True) as watching,
        psycopg.connect(served.conninfo) as keeping,
    ):
        keeping.execute(READ)

        def waiting() -> int:
            return watching.execute(WAITING, [keeping.info.backend_pid]).rowcount

        answers = asyncio.run_coroutine_threadsafe(all_of_them(), served.worker.loop)
        until(waiting)
        shown = other.get("/console/account").status_code
        most = waiting()
        keeping.rollback()

    assert (shown, most) == (200, 1)
    assert {one.status_code for one in answers.result(PATIENCE_S)} == {200}


def test_checks_and_the_api_share_the_rate_of_a_person(served: Served) -> None:
    limited = served.having(check_rate=KeyedRateLimit(1 / 3600, 2, monotonic))
    browser = limited.reader(FIU)
    login = {"username": ADMINS[FIU], "password": PASSWORD}
    token = limited.worker.client().post("/iam/v1/user/token/generate", data=login).json()
    api = limited.worker.client(token["accessToken"])

    checks = [limited.check(browser, FIU).status_code for _ in range(3)]

    assert checks == [200, 200, 429]
    refused = api.post("/cr/v2/lint/FIU", json={})
    assert_error(refused, 429, "TooManyAttempts", "2 checks of payloads a second from one caller")
    # Writes have a limit of their own.
    assert api.post("/cr/v2/entityInfo/FIU", json={}).status_code == 400
    assert limited.check(limited.reader(FIP), FIP).status_code == 200


def test_writes_by_the_api_have_a_rate_that_says_what_it_is(served: Served) -> None:
    limited = served.having(registry_rate=KeyedRateLimit(1 / 3600, 2, monotonic))
    login = {"username": ADMINS[FIU], "password": PASSWORD}
    token = limited.worker.client().post("/iam/v1/user/token/generate", data=login).json()
    api = limited.worker.client(token["accessToken"])

    *taken, refused = [api.post("/cr/v2/entityInfo/FIU", json={}) for _ in range(3)]

    assert [one.status_code for one in taken] == [400, 400]
    assert_error(refused, 429, "TooManyAttempts", "2 writes to the registry a second")
    # Checks have a limit of their own.
    assert api.post("/cr/v2/lint/FIU", json={}).status_code == 200


def test_who_gets_no_turn_is_asked_to_try_again(served: Served) -> None:
    busy = served.having(registry_turns=Queue(0, 0.0))

    refused = busy.check(busy.reader(FIU), FIU)

    assert refused.status_code == 503
    assert "Too many payloads wait to be checked" in refused.text


def test_the_check_is_readied_for_who_is_signed_in_alone(served: Served) -> None:
    readied: list[str] = []

    async def note(caller: str) -> None:
        readied.append(caller)

    noted = served.having(prepare_check=note)
    stranger, page = Reader(noted.worker.client(), ""), page_of(FIU)
    sent: dict[str, Any] = {"csrf_token": "x", "payload": "{}"}

    asked = [
        stranger.get(page),
        *(stranger.post(f"{page}/{act}", sent) for act in ("check", "submit")),
    ]
    assert [one.status_code for one in asked] == [303, 403, 403]
    assert readied == []

    assert noted.check(noted.reader(FIU), FIU).status_code == 200
    assert len(readied) == 2  # for the page, and for its form
    assert len({*readied}) == 1


def test_a_submission_that_is_refused_counts_as_a_write(served: Served) -> None:
    browser = served.reader(AA)

    submitted = [served.check(browser, AA, "submit") for _ in range(WRITES + 1)]

    assert [one.status_code for one in submitted] == [400] * WRITES + [429]
    assert "Nothing was submitted. The findings say what to change." in submitted[0].text
    assert "that one hour permits are used up" in submitted[-1].text


def test_a_page_is_written_in_a_thread(served: Served) -> None:
    """What a page takes keeps no token of others waiting (0220)."""
    written: list[str] = []

    def note(_: str) -> Sequence[SandboxNotice]:
        written.append(current_thread().name)
        return ()

    async def name_of_thread() -> str:
        return current_thread().name

    noted = served.having(notices=note)
    browser, loop = noted.reader(FIU), noted.worker.do(name_of_thread())
    written.clear()

    for path in (f"/console/entity/{FIU}/secret", page_of(FIU)):
        assert browser.get(path).status_code == 200
    assert len(written) == 2
    assert loop not in written, written
