"""Incidents are detected again however many reports have changed since."""

import sqlalchemy as sa
from tests.support.service import Service

from mudra.bootstrap.dependencies import Dependencies
from mudra.jobs.metrics_jobs import detect_incidents

MAX_AT_ONCE = 24

WINDOWS, MANY = MAX_AT_ONCE + 1, 70_000
"""Also the marks of what one transaction judges, which the next one looks for, are too many."""
_MARKS = sa.text(
    "INSERT INTO metrics_stale (grain, aa_id, tag, at, noted_at)"
    " SELECT 'window', 'AA-MANY', 'req', judged - (number % :windows) * interval '10 minutes', '1970-01-01'"
    " FROM generate_series(1, :marks) AS number,"
    " (SELECT coalesce(max(window_at), date_trunc('hour', cast(:now AS timestamptz)) - interval '1 hour')"
    " AS judged FROM metrics_attribution) AS last"
)
_LEFT = sa.text("SELECT count(*) FROM metrics_stale WHERE aa_id = 'AA-MANY'")


def test_marks_of_more_reports_than_a_statement_has_parameters_are_cleared(
    service: Service,
) -> None:
    async def mark_and_detect(dependencies: Dependencies, marks: int) -> int:
        async with dependencies.database.transaction(within_s=60) as transaction:
            await transaction.take_time(60)
            times = {"marks": marks, "windows": WINDOWS, "now": await transaction.now()}
            await transaction.connection.execute(_MARKS, times)
        await detect_incidents(dependencies.metrics_maintenance)
        async with dependencies.database.transaction() as transaction:
            return int(await transaction.connection.scalar(_LEFT) or 0)

    async def judge_once_more(dependencies: Dependencies) -> int:
        # The first pass over windows clears the marks of a few at a time.
        await mark_and_detect(dependencies, WINDOWS)
        return await mark_and_detect(dependencies, MANY)

    assert service.in_store(judge_once_more) == 0
