"""Sums of the release before 0040 say the same after the upgrade, and are added up (quality O4)."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import sqlalchemy as sa
from alembic import command
from tests.support.metrics_payloads import request_block

from mudra.metrics.payload.catalogue import RequestType, Tag
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.rollup import Rollup, coarse, merge_all, rollup
from mudra.storage.caching.cache_invalidation import CacheInvalidation
from mudra.storage.database.database import Database
from mudra.storage.database.embedded.server import embedded_server
from mudra.storage.database.migrate import migrate
from mudra.storage.database.upgrade import alembic_config
from mudra.storage.metrics.rollup_queries import PostgresRollupQueries
from mudra.storage.metrics.rollups import make_anew, next_stale

FORMER = "0062"
DAY = datetime(2026, 3, 4, tzinfo=UTC)
HOUR = DAY + timedelta(hours=9)


def sums_of(place: int) -> Rollup:
    """What an AA's blocks of a type add up to; the third AA had no answer at all."""
    if place == 2:
        block = request_block(RequestType.CONSENT, 1, 0)
        return coarse(rollup([block]))
    blocks = [request_block(RequestType.CONSENT, seed, 300) for seed in range(place, place + 4)]
    return coarse(rollup(blocks))


def migrate_to(url: str, revision: str) -> None:
    engine = sa.create_engine(
        "postgresql+psycopg://", creator=lambda: psycopg.connect(url), poolclass=sa.NullPool
    )
    with engine.begin() as connection:
        config = alembic_config()
        config.attributes["connection"] = connection
        command.upgrade(config, revision)


def insert_as_before(url: str) -> dict[str, Rollup]:
    kept = {f"AA-{place}": sums_of(place) for place in range(3)}
    with psycopg.connect(url) as connection:
        connection.execute(
            "CREATE TABLE metrics_hour_202603 PARTITION OF metrics_hour"
            " FOR VALUES FROM ('2026-03-01') TO ('2026-04-01')"
        )
        for table, at in (("metrics_hour", HOUR), ("metrics_day", DAY)):
            for aa_id, row in kept.items():
                times = row.times
                connection.execute(
                    f"INSERT INTO {table} (at, aa_id, tag, fip_id, type, blocks, counts,"
                    " statuses, data_bytes, cells, surely, maybe, likely, longest)"
                    " VALUES (%s, %s, 'req', 'BANK', 'cns', %s, %s, %s, %s, %s, %s, %s, %s, %s)",
                    (
                        *(at, aa_id, row.blocks, list(row.counts), list(row.statuses)),
                        *(row.data_bytes, list(times.cells), list(times.surely)),
                        *(list(times.maybe), list(times.likely), times.longest),
                    ),
                )
    return kept


async def read_and_make(url: str) -> tuple[dict[str, Rollup], Rollup]:
    """The sums of each AA as they are read now, and those over all AAs once they are made."""
    database = Database(url, CacheInvalidation(url), timedelta)
    within = TimeRange(DAY, DAY + timedelta(days=1))
    async with database.transaction() as transaction:
        totals = await PostgresRollupQueries(transaction).totals(within, tag=Tag.REQUESTS)
    stale: object = True
    while stale:
        async with database.transaction(within_s=30) as transaction:
            stale = await next_stale(transaction)
            if stale is not None:
                await make_anew(transaction, stale)
    async with database.transaction() as transaction:
        ((_, over_all),) = (await PostgresRollupQueries(transaction).over_aas(within)).items()
    await database.close()
    return {cell.aa_id: sums for cell, sums in totals.items()}, over_all


def test_sums_of_the_former_release_are_read_as_before_and_added_up(tmp_path: Path) -> None:
    with embedded_server(tmp_path / "data") as url:
        migrate_to(url, FORMER)
        kept = insert_as_before(url)

        migrate(url)
        read, over_all = asyncio.run(read_and_make(url))

        assert read == kept
        assert over_all == merge_all(kept.values())
        with psycopg.connect(url) as connection:
            packed = connection.execute(
                "SELECT count(*) FROM metrics_hour WHERE spread IS NOT NULL AND aa_id <> ''"
            ).fetchone()
        assert packed == (3,)
