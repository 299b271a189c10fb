"""A reader whose time is over fails alone: who waits for the same value has time left."""

import asyncio
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager

import httpx2
import psycopg
import pytest
from msgspec.structs import replace
from tests.faults.statements.world import AA, ADMINS, PASSWORD, STAFF, set_up
from tests.support.database.template_database import prepare
from tests.support.in_process import InProcess, in_process
from tests.support.metrics.metrics_payloads import as_value, request_metrics

from mudra.bootstrap.node.serve import open_store
from mudra.metrics.payload.catalogue import WINDOW, window_start
from mudra.settings.settings import Settings
from mudra.storage.database.transaction import Transaction

PAGE_S = 20.0
TRANSACTION_S = 3.0

FIRST_S = 1.0
"""Less than the server lets a statement wait for a lock."""
READING = """
    SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'metrics_block'::regclass
"""
PATH = "/operator/v1/health/fips"


class Times:
    """How long each read of health may take: the first one, once one is to be short, less."""

    def __init__(self, worker: InProcess) -> None:
        self.first_is_short = False
        self._transaction = worker.edge.http.transaction
        http = replace(worker.edge.http, transaction=self)
        self.worker = InProcess(worker.loop, replace(worker.edge, http=http))

    def __call__(
        self, *, within_s: float = TRANSACTION_S
    ) -> AbstractAsyncContextManager[Transaction]:
        if self.first_is_short and within_s == PAGE_S:
            self.first_is_short, within_s = False, FIRST_S
        return self._transaction(within_s=within_s)

    def person(self, email: str) -> httpx2.Client:
        return self.worker.client(self._token("user", username=email, password=PASSWORD))

    def report(self) -> None:
        admin = self.person(ADMINS[AA])
        read = admin.post("/iam/v1/entity/secret/read", json={"entityId": AA}).json()
        agent = self.worker.client(self._token("entity", id=AA, secret=read["secret"]))
        start = window_start(self.worker.edge.http.clock()) - 2 * WINDOW
        payload = as_value(request_metrics(3, AA, "6f1d0d3e-1111-4111-8111-000000000001", start, 1))
        assert agent.post("/metrics/perf/v1/push", json=payload).status_code == 200

    def _token(self, kind: str, **form: str) -> str:
        answer = self.worker.client().post(f"/iam/v1/{kind}/token/generate", data=form)
        return str(answer.json()["accessToken"])

    async def asked(self, client: httpx2.Client) -> int:
        return (await self.worker.handled(client.build_request("GET", PATH))).status_code


@pytest.fixture
def times(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Times]:
    settings = Settings(data_dir=tmp_path_factory.mktemp("time") / "data", sandbox=True)
    prepare(settings.data_dir)
    with (
        open_store(settings, create=True) as opened,
        in_process(settings, *opened, connections=8) as one,
    ):
        one.do(set_up(one.edge.dependencies))
        found = Times(one)
        found.report()
        yield found


async def reading(holder: psycopg.AsyncConnection[tuple[int]]) -> int:
    """How many wait for the blocks that this connection has locked."""
    found = await (await holder.execute(READING)).fetchone()
    assert found is not None
    return found[0]


def test_a_reader_whose_time_is_over_fails_alone(times: Times) -> None:
    client = times.person(STAFF)
    database = times.worker.edge.dependencies.database.conninfo
    times.first_is_short = True

    async def ask() -> list[int]:
        async with await psycopg.AsyncConnection.connect(database) as holder:
            await holder.execute("LOCK TABLE metrics_block IN ACCESS EXCLUSIVE MODE")
            first = asyncio.create_task(times.asked(client))
            while not await reading(holder):  # else one of the others may read for all
                assert not first.done()
            others = [asyncio.create_task(times.asked(client)) for _ in range(3)]
            of_first = await first
            await holder.rollback()
            return [of_first, *await asyncio.gather(*others)]

    assert times.worker.do(ask()) == [503, 200, 200, 200]
