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
_VERSIONS = """
WITH own AS (
  INSERT INTO registry_entity (entity_id, type, status) VALUES ('SETU-AA', 'AA', 'live')
  RETURNING entity_id
)
INSERT INTO registry_version (entity_id, number, body, entityhandle, kid, thumbprint, modulus_hash,
    bits, status, submitted_by, submitted_at, submitted_person, decided_by, reason, live_from,
    live_until, equal_to)
SELECT entity_id, n, '', '@setu', 'k', 't', 'm', 2048, 'superseded', '', %(live)s, '', '', '',
    %(live)s::timestamptz + n * interval '1 minute', %(live)s::timestamptz, 0
FROM own, generate_series(0, 20000) n
"""
_ROWS_READ = sa.text(
    "SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int FROM pg_stat_xact_user_tables"
    " WHERE relname IN ('audit_event', 'registry_version')"
)


@pytest.fixture(scope="module")
def of_one_aa(conninfo: str) -> str:
    """An AA that was suspended for two days, and pushed and changed its entry very often."""
    pushes = {"pushes": PUSHES // 2}
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute(_MEMBER, {"live": LIVE, "suspended": SUSPENDED})
        connection.execute(_VERSIONS, {"live": LIVE})
        connection.execute(_RECEIPT, {"live": LIVE})
        connection.execute(_PUSH, pushes)
        for at, was, now in ((SUSPENDED, "active", "suspended"), (RESTORED, "suspended", "active")):
            connection.execute(_CHANGE, {"at": at, "was": was, "is": now})
        connection.execute(_PUSH, pushes)
        connection.execute("VACUUM ANALYZE audit_event, registry_version")
    return conninfo


async def asked(conninfo: str, plan: str) -> tuple[Mapping[str, ReportingTimes], int]:
    """The answer, and the number of events and versions that were read for it."""
    database = Database(conninfo, CacheInvalidation(conninfo), timedelta)
    try:
        async with database.transaction(within_s=60) as tx:
            await tx.connection.execute(sa.text(f"SET LOCAL plan_cache_mode = {plan}"))
            members = OnboardedMembers(tx)
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
