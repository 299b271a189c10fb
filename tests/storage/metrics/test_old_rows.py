"""What is over age goes from every table of the metrics, by the jobs that a service runs."""

import sqlalchemy as sa
from tests.storage.metrics.old_rows import OLD_ROWS, PARTITIONED, left_of
from tests.support.metrics.metrics_push import pushing_aa
from tests.support.service import Service

from mudra.bootstrap.dependencies import Dependencies
from mudra.jobs.metrics_jobs import detect_incidents, drop_old_metrics, refresh_rollups
from mudra.metrics.rollup.retention import RetentionPolicy
from mudra.overview.purge_store import purge_expired
from mudra.overview.retention_store import RULES, Days

_MAKE = sa.text("SELECT metrics_partition_make(:table, '2001-01-01')")
_NO_REPORT_IS_WAITED_FOR = "PT30M"
"""After it the detection judges a window without the AAs that other tests registered."""
_OF_PEOPLE = "metrics_incident"


async def put_old_rows(dependencies: Dependencies) -> None:
    async with dependencies.database.transaction() as transaction:
        for table in PARTITIONED:
            await transaction.connection.execute(_MAKE, {"table": table})
        for table, row in OLD_ROWS.items():
            await transaction.connection.exec_driver_sql(f"INSERT INTO {table} {row}")


async def run_the_jobs(dependencies: Dependencies) -> None:
    work = dependencies.metrics_maintenance
    await drop_old_metrics(work, RetentionPolicy(90, 400))
    await purge_expired(dependencies.database, Days(mail=90, sums=3650))
    await refresh_rollups(work)
    await detect_incidents(work)


async def left(dependencies: Dependencies) -> dict[str, object]:
    async with dependencies.database.transaction() as transaction:
        scalar = transaction.connection.scalar
        return {table: await scalar(sa.text(left_of(table))) for table in OLD_ROWS}


def test_the_old_rows_of_every_table_go(service: Service) -> None:
    aa = pushing_aa(service)

    assert aa.push(aa.requests(aa.last_window())).status_code == 200
    service.in_store(run_the_jobs)
    service.in_store(put_old_rows)
    service.advance("PT10M")
    assert aa.push(aa.requests(aa.last_window())).status_code == 200
    service.advance(_NO_REPORT_IS_WAITED_FOR)
    service.in_store(run_the_jobs)

    assert OLD_ROWS.keys() == {one for one in RULES if one.startswith("metrics_")} - {_OF_PEOPLE}
    assert service.in_store(left) == dict.fromkeys(OLD_ROWS, 0)
