"""What many readers ask for at once is made once, and no reader gets what is another's."""

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, ItemsView, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from itertools import count
from time import monotonic
from types import SimpleNamespace
from typing import Any, TypeVar

import httpx2
import pytest
from msgspec.structs import replace
from sqlalchemy import event
from sqlalchemy.engine import Engine
from tests.faults.statements.world import AA, ADMINS, DEPUTY, PASSWORD, STAFF, set_up
from tests.support.cheap_hashes import cheap_hashes
from tests.support.database.template_database import prepare
from tests.support.depth import with_every_change
from tests.support.in_process import InProcess, in_process
from tests.support.metrics.metrics_payloads import as_value, request_metrics
from tests.support.people.console import Reader

from mudra.bootstrap.node.serve import open_store
from mudra.metrics.health.fip_health import NOTHING_REPORTED
from mudra.metrics.health.fip_state import no_states
from mudra.metrics.health.network_health import NetworkHealth
from mudra.metrics.payload.catalogue import WINDOW, window_start
from mudra.metrics.rollup.coverage import Coverage, TimeRange, due_until
from mudra.settings.settings import Settings
from mudra.shared.waiting.made_once import MadeOnce
from mudra.storage.database.transaction import Transaction

PAGE_S = 20.0
TRANSACTION_S = 3.0

T = TypeVar("T")
CONNECTIONS = 4
AT_ONCE = 2 * CONNECTIONS
FEW = 4
WINDOW_LEFT = timedelta(minutes=3)
"""A test takes less, also where other tests run next to it."""
HEALTH = "/console/operator/health"
PAGES = {
    "matrix": (STAFF, HEALTH),
    "counterparts": (STAFF, f"{HEALTH}/aa/{AA}"),
    "lines": (ADMINS[AA], f"/console/entity/{AA}/health"),
}
_MARKS = ("metrics_stale", "metrics_receipt")
_WORD = re.compile(r'name="csrf_token" value="([^"]+)"')


class Counting(MadeOnce):
    """Counts how often something is made, by the first word of its question."""

    def __init__(self) -> None:
        super().__init__(monotonic)
        self.made: Counter[str] = Counter()

    async def get(
        self,
        question: Hashable,
        made_of: object,
        make: Callable[[], Awaitable[T]],
        *,
        large: bool = False,
    ) -> T:
        assert isinstance(question, tuple)
        name = question[0][0]
        if isinstance(name, tuple):  # a table of a query
            name = name[0]

        async def counted() -> T:
            self.made[name] += 1
            return await make()

        return await super().get(question, made_of, counted, large=large)


class Statements:
    """The texts of statements, in order."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def statement_begun(self, statement: str) -> None:
        self.seen.append(statement)

    def statement_ended(self, begun: object, *, failed: bool) -> None:
        pass


class CountedFips(dict[str, Any]):
    """The health of FIPs; counts how often something is made of them."""

    made = 0

    def items(self) -> ItemsView[str, Any]:
        self.made += 1
        return super().items()


class SameHealth:
    """A network whose health stays the same, in memory."""

    def __init__(self, now: datetime) -> None:
        self.fips = CountedFips(dict.fromkeys(("BANK-1", "BANK-2"), NOTHING_REPORTED))
        within = TimeRange(now - WINDOW, now)
        none = Coverage({}, {})
        self.found = NetworkHealth(self.fips, within, none, none, now, (), {}, no_states())

    @asynccontextmanager
    async def open(self, *, within_s: float) -> AsyncIterator[SimpleNamespace]:
        assert within_s > 0
        yield SimpleNamespace(service=lambda _: self)

    async def network(self, within: TimeRange, now: datetime) -> NetworkHealth:
        assert within.end <= now
        return self.found


@dataclass
class Served:
    """A worker, and what its pages made for all readers."""

    worker: InProcess
    parts: Counting
    opened: list[float]
    """The seconds that each transaction of an edge may take."""
    seeds: Iterator[int] = field(default_factory=lambda: count(1))

    def reader(self, email: str) -> Reader:
        browser = Reader(self.worker.client(), "")
        assert browser.sign_in(email, PASSWORD).status_code == 303
        return browser

    def at_once(self, readers: list[Reader], path: str) -> list[httpx2.Response]:
        return self.all_of([one.client for one in readers], path)

    def all_of(self, clients: list[httpx2.Client], path: str) -> list[httpx2.Response]:
        async def ask() -> list[httpx2.Response]:
            return await asyncio.gather(*(self.worker.handled(one) for one in asked))

        asked = [one.build_request("GET", path) for one in clients]
        answers: list[httpx2.Response] = self.worker.do(ask())
        return answers

    def leave_time_in_the_window(self) -> None:
        """Move the clock on where a window is about to close, or the reports of one to be due.

        Pages are of the windows that are closed, and name the reports that are due and missing.
        """
        now = self.worker.edge.http.clock()
        if window_start(now + WINDOW_LEFT) > window_start(now) or due_until(
            now + WINDOW_LEFT
        ) > due_until(now):
            moved = self.worker.client().post("/sandbox/v1/clock", json={"advance": "PT3M"})
            assert moved.status_code == 200, moved.text

    def move_to(self, past_the_hour: timedelta) -> None:
        """Move the clock on to this time of an hour: the last hour is whole, or made of windows."""
        now = self.worker.edge.http.clock()
        at = now.replace(minute=0, second=0, microsecond=0) + past_the_hour
        at = at if at > now else at + timedelta(hours=1)
        seconds = (at - now).total_seconds()
        moved = self.worker.client().post(
            "/sandbox/v1/clock", json={"advance": f"PT{seconds:.0f}S"}
        )
        assert moved.status_code == 200, moved.text

    def person(self, email: str) -> httpx2.Client:
        return self.worker.client(self._token("user", username=email, password=PASSWORD))

    def with_health(self, health: SameHealth) -> "Served":
        edge = self.worker.edge
        http = replace(edge.http, reads=health.open)
        worker = InProcess(self.worker.loop, replace(edge, http=http))
        return Served(worker, self.parts, self.opened)

    def agent(self) -> httpx2.Client:
        admin = self.person(ADMINS[AA])
        read = admin.post("/iam/v1/entity/secret/read", json={"entityId": AA}).json()
        return self.worker.client(self._token("entity", id=AA, secret=read["secret"]))

    def push(self) -> None:
        seed = next(self.seeds)
        start = window_start(self.worker.edge.http.clock()) - 2 * WINDOW
        txn_id = f"6f1d0d3e-1111-4111-8111-{seed:012}"
        payload = as_value(request_metrics(3, AA, txn_id, start, seed))
        assert self._pushing.post("/metrics/perf/v1/push", json=payload).status_code == 200

    @cached_property
    def _pushing(self) -> httpx2.Client:
        return self.agent()

    def _token(self, kind: str, **form: str) -> str:
        answer = self.worker.client().post(f"/iam/v1/{kind}/token/generate", data=form)
        token: Any = answer.json()["accessToken"]
        return str(token)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    settings = Settings(data_dir=tmp_path_factory.mktemp("readers") / "data", sandbox=True)
    prepare(settings.data_dir)
    with (
        cheap_hashes(),
        open_store(settings, create=True) as opened,
        in_process(settings, *opened, connections=CONNECTIONS) as one,
    ):
        one.do(set_up(one.edge.dependencies))
        parts, within = Counting(), list[float]()
        transaction = one.edge.http.transaction

        def noted(*, within_s: float = TRANSACTION_S) -> AbstractAsyncContextManager[Transaction]:
            within.append(within_s)
            return transaction(within_s=within_s)

        http = replace(one.edge.http, page_parts=parts, transaction=noted)
        found = Served(InProcess(one.loop, replace(one.edge, http=http)), parts, within)
        found.push()
        yield found


@pytest.mark.parametrize("name", with_every_change(["matrix"], PAGES))
def test_what_many_readers_ask_for_is_made_once_until_a_report_comes(
    served: Served, name: str
) -> None:
    email, path = PAGES[name]
    readers = [served.reader(email)] * AT_ONCE
    served.leave_time_in_the_window()
    served.push()
    served.parts.made.clear()

    answers = served.at_once(readers, path)

    assert Counter(answer.status_code for answer in answers) == {200: AT_ONCE}
    assert served.parts.made[name] == 1
    before = answers[0].text
    served.push()
    after = served.at_once(readers, path)[0].text
    assert served.parts.made[name] == 2
    assert after != before


def test_each_reader_of_a_matrix_has_their_own_name_and_word(served: Served) -> None:
    staff, deputy = served.reader(STAFF), served.reader(DEPUTY)

    own, others = served.at_once([staff, deputy], HEALTH)

    assert STAFF in own.text
    assert STAFF not in others.text
    assert set(_WORD.findall(own.text)).isdisjoint(_WORD.findall(others.text))


@pytest.mark.parametrize("name", with_every_change(["lines"], PAGES))
def test_a_reader_has_time_to_wait_for_what_another_readers_page_makes(
    served: Served, name: str
) -> None:
    email, path = PAGES[name]
    readers = [served.reader(email)]
    served.opened.clear()

    served.at_once(readers, path)

    assert set(served.opened) == {PAGE_S}


def _most_times(statement: str) -> int:
    """How often a page may ask the same: what is stale again after it was read, and by which
    reports a picture was made of each picture of one time."""
    return 2 if any(f"FROM {one}" in statement for one in _MARKS) else 1


@contextmanager
def asked_with_values() -> Iterator[Counter[str]]:
    """Counts the statements of this process, each with its values."""
    asked: Counter[str] = Counter()

    def begun(_c: object, _k: object, statement: str, values: object, *_: object) -> None:
        asked[f"{statement} {values}"] += 1

    event.listen(Engine, "before_cursor_execute", begun)
    try:
        yield asked
    finally:
        event.remove(Engine, "before_cursor_execute", begun)


@pytest.mark.parametrize("path", [HEALTH, f"{HEALTH}/aa/{AA}", "/console/operator/board"])
@pytest.mark.parametrize("past_the_hour", [timedelta(minutes=2), timedelta(minutes=25)])
def test_an_operators_page_asks_the_database_nothing_twice(
    served: Served, path: str, past_the_hour: timedelta
) -> None:
    served.move_to(past_the_hour)
    served.push()  # nothing made before is an answer: the page reads all that it shows
    readers = [served.reader(STAFF)]

    with asked_with_values() as asked:
        served.at_once(readers, path)

    pages = {one: times for one, times in asked.items() if "clock_timestamp() AS" not in one}
    assert len(pages) > 5
    assert [one for one, times in pages.items() if times > _most_times(one)] == []


@pytest.mark.parametrize("grouping", ["fips", "pairs", "aas", "network"])
def test_a_picture_of_health_is_made_once_for_all_who_call(served: Served, grouping: str) -> None:
    client, path = served.person(STAFF), f"/operator/v1/health/{grouping}"
    served.leave_time_in_the_window()

    def reads(clients: int) -> Counter[str]:
        statements = Statements()
        served.push()  # so that nothing made before is an answer, not even at a second try
        served.worker.edge.dependencies.database.watch_statements(statements)
        answers = served.all_of([client] * clients, path)
        assert Counter(answer.status_code for answer in answers) == {200: clients}
        assert answers[0].json()["rows"]
        return Counter(one for one in statements.seen if "FROM metrics_block" in one)

    assert reads(AT_ONCE) == reads(1) != Counter()


@pytest.mark.parametrize(
    "path", ["/status/v1/fips.json", "/status/v1/fips.csv", "/metrics/perf/v1/feed"]
)
def test_an_answer_for_all_is_made_once_of_the_same_health(served: Served, path: str) -> None:
    agent, health = served.agent(), SameHealth(served.worker.edge.http.clock())
    worker = served.with_health(health)
    tag = worker.all_of([agent], path)[0].headers["ETag"]
    agent.headers["If-None-Match"] = tag
    others = [served.worker.client(agent.headers["Authorization"].removeprefix("Bearer "))]

    known = worker.all_of([agent] * FEW, path)
    whole = worker.all_of(others * FEW, path)

    assert Counter(answer.status_code for answer in known) == {304: FEW}
    assert Counter(answer.status_code for answer in whole) == {200: FEW}
    assert {answer.headers["ETag"] for answer in known + whole} == {tag}
    assert b"BANK-2" in whole[0].content
    assert health.fips.made == 1
