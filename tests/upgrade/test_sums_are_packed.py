"""Sums of a database of 1.0.0, which are rows, are read as before once it is upgraded (0023)."""

import uuid
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from tests.support.database.own_postgres import as_superuser, own_postgres
from tests.support.metrics.metrics_payloads import notification_metrics, request_metrics
from tests.support.metrics.summed_store import DAY, one_store

from mudra.metrics.payload.catalogue import WINDOW
from mudra.storage.database.migrate import migrate

RELEASED = Path(__file__).parent / "released" / "1.0.0.sql"
_ROWS = ("metrics_hour", "metrics_day")
_PACKED = (
    "SELECT aa_id, kind, grain, at, tag, type, sums FROM metrics_packed WHERE grain <> 'window'"
    " ORDER BY aa_id, kind, grain, at, tag, type"
)


@pytest.fixture(scope="module")
def of_this(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A database of this release with three days of reports, summed up."""
    with own_postgres(tmp_path_factory.mktemp("this") / "data") as url:
        with one_store(url) as in_store:
            in_store(_report)
        yield url


async def _report(store):
    for place in (0, 1, 40, 150, 290):
        for number, aa_id in enumerate(("aa-one", "aa-two", "aa-three")):
            window, seed = DAY + place * WINDOW, number + place
            await store.push(request_metrics(3, aa_id, str(uuid.uuid4()), window, seed))
            await store.push(notification_metrics(3, aa_id, str(uuid.uuid4()), window))
    await store.make_sums()


def test_what_an_upgrade_packs_is_what_the_jobs_pack(of_this: str) -> None:
    as_superuser(of_this, "CREATE DATABASE former TEMPLATE template0")
    former = make_conninfo(of_this, dbname="former")
    with (
        psycopg.connect(of_this) as there,
        psycopg.connect(former, autocommit=True) as here,
    ):
        here.execute(RELEASED.read_bytes())
        here.execute("SET search_path = public")
        here.execute("SELECT metrics_partition_make('metrics_hour', %s)", [DAY])
        for table in _ROWS:
            _copy(there, here, table)
        expected = there.execute(_PACKED).fetchall()

    migrate(former)

    with psycopg.connect(former) as here:
        assert here.execute(_PACKED).fetchall() == expected
        assert here.execute("SELECT to_regclass('metrics_pair_day')").fetchone() == (None,)
    assert len(expected) > 100


def _copy(there: psycopg.Connection, here: psycopg.Connection, table: str) -> None:
    with (
        there.cursor().copy(f"COPY (SELECT * FROM {table}) TO STDOUT".encode()) as read,
        here.cursor().copy(f"COPY {table} FROM STDIN".encode()) as written,
    ):
        for block in read:
            written.write(block)
