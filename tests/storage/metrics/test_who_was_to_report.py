"""When an AA was to report is found among any number of events of that AA."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
import sqlalchemy as sa

from mudra.metrics.rollup.coverage import FOREVER, ReportingTimes, TimeRange
from mudra.storage.caching.cache_invalidation import CacheInvalidation
from mudra.storage.database.database import Database
from mudra.storage.metrics.receipts import OnboardedMembers

PUSHES = 30_000
LIVE = datetime(2026, 1, 5, tzinfo=UTC)
SUSPENDED = datetime(2026, 2, 1, tzinfo=UTC)
RESTORED = datetime(2026, 2, 3, tzinfo=UTC)
_MEMBER = """
INSERT INTO entity (entity_id, type, name, created_at, tokens_not_before)
VALUES ('SETU-AA', 'AA', 'Setu', %(live)s, %(suspended)s)
"""
_RECEIPT = """
INSERT INTO metrics_receipt (receipt_id, aa_id, tag, window_at, version, txn_id, content_hash,
    received_at, blocks, findings)
VALUES (gen_random_uuid(), 'SETU-AA', 'req', %(live)s, 1, 't', '', %(live)s, 0, '[]')
"""
_EVENT = """
INSERT INTO audit_event (at, event, outcome, actor, entity_id, address, txn_id, reason, detail)
"""
_CHANGE = f"""
{_EVENT} VALUES (%(at)s, 'entity:status:change', 'success', 'operator:rao', 'SETU-AA', '', 't',
    'an audit', jsonb_build_object('from', %(was)s::text, 'to', %(is)s::text))
"""
_PUSH = f"""
{_EVENT} SELECT now(), 'metrics:report:accept', 'success', 'entity:SETU-AA', 'SETU-AA', '192.0.2.7', 't', '',
    '{{}}' FROM generate_series(1, %(pushes)s)
"""
_ROWS_READ = sa.text(
    "SELECT seq_tup_read + coalesce(idx_tup_fetch, 0) FROM pg_stat_xact_user_tables"
    " WHERE relname = 'audit_event'"
)


@pytest.fixture(scope="module")
def of_one_aa(conninfo: str) -> str:
    """An AA that was suspended for two days, and pushed before and since."""
    pushes = {"pushes": PUSHES // 2}
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute(_MEMBER, {"live": LIVE, "suspended": SUSPENDED})
        connection.execute(_RECEIPT, {"live": LIVE})
        connection.execute(_PUSH, pushes)
        for at, was, now in ((SUSPENDED, "active", "suspended"), (RESTORED, "suspended", "active")):
            connection.execute(_CHANGE, {"at": at, "was": was, "is": now})
        connection.execute(_PUSH, pushes)
        connection.execute("VACUUM ANALYZE audit_event")
    return conninfo


async def asked(conninfo: str, plan: str) -> tuple[Mapping[str, ReportingTimes], int]:
    """The answer, and the number of events that were read for it."""
    database = Database(conninfo, CacheInvalidation(conninfo), timedelta)
    try:
        async with database.transaction(within_s=60) as tx:
            await tx.connection.execute(sa.text(f"SET LOCAL plan_cache_mode = {plan}"))
            members = OnboardedMembers(tx, tx)
            for _ in range(8):  # from the sixth time on the statement is a prepared one
                before = await tx.connection.scalar(_ROWS_READ)
                found = await members.reporting_aas()
                read = await tx.connection.scalar(_ROWS_READ) - before
            return found, read
    finally:
        await database.close()


@pytest.mark.parametrize("plan", ["force_custom_plan", "force_generic_plan"])
def test_changes_of_status_are_found_among_any_number_of_pushes(of_one_aa: str, plan: str) -> None:
    found, read = asyncio.run(asked(of_one_aa, plan))

    assert found["SETU-AA"].times[-1] == TimeRange(RESTORED, FOREVER)
    assert found["SETU-AA"].times[0].start == LIVE
    assert read < 10
