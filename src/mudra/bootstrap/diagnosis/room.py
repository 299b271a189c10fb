"""The checks of `mudra doctor` of what fills up: the disk of the database, and queues."""

import shutil
from datetime import timedelta
from typing import Final

import sqlalchemy as sa

from mudra.bootstrap.dependencies import Dependencies
from mudra.metrics.rollup.retention import RetentionPolicy
from mudra.overview.administration import Diagnosis
from mudra.storage.database.database import Database
from mudra.storage.database.server.growth import Growth, read_growth
from mudra.storage.tables.alarms import webhook_message
from mudra.storage.tables.audit import audit_token_issue
from mudra.storage.tables.identity import link_request
from mudra.storage.tables.metrics import metrics_stale
from mudra.storage.tables.registry import registry_probe

_MIN_DAYS: Final = 14
_GIB: Final = 1 << 30
_HOUR: Final = timedelta(hours=1)
_QUEUES: Final = (
    ("sums of metrics", metrics_stale.c.noted_at, sa.true(), timedelta(hours=26)),
    ("issued tokens to pack", audit_token_issue.c.at, sa.true(), _HOUR),
    ("links to send", link_request.c.asked_at, sa.true(), _HOUR),
    ("probes", registry_probe.c.requested_at, registry_probe.c.done_at.is_(None), _HOUR),
    ("webhook messages", webhook_message.c.made_at, sa.true(), timedelta(hours=25)),
)
"""What waits, since when, which rows of it, and how long it may.

Late sums wait for a day, and a message is tried for one.
"""


async def forecast(dependencies: Dependencies) -> Diagnosis:
    """The disk of the embedded database lasts; of another the growth is shown alone."""
    embedded = dependencies.settings.database_url is None
    growth = await _growth(dependencies)
    free = shutil.disk_usage(dependencies.settings.data_dir).free if embedded else None
    return judge(growth, free)


def judge(growth: Growth, free: int | None) -> Diagnosis:
    """Say how long so much room lasts; None where the disk is not seen from here."""
    text = f"{growth.size / _GIB:.1f} GiB, {growth.a_day / _GIB:.2f} GiB more a day"
    if free is None:
        return Diagnosis("growth", passed=True, text=f"{text}; watch the disk of its server")
    days = growth.full_in(free)
    if days is None:
        return Diagnosis("growth", passed=True, text=f"{text}: the disk has room for it")
    text += f": the disk is full in {days} days"
    if days < _MIN_DAYS:
        text += ": make room, or keep less (MUDRA_METRICS_RAW_DAYS, MUDRA_METRICS_HOUR_DAYS)"
    return Diagnosis("growth", passed=days >= _MIN_DAYS, text=text)


async def _growth(dependencies: Dependencies) -> Growth:
    settings = dependencies.settings
    policy = RetentionPolicy(settings.metrics_raw_days, settings.metrics_hour_days)
    async with dependencies.database.transaction() as transaction:
        return await read_growth(transaction, policy.raw_days, policy.kept_hour_days)


async def queues(dependencies: Dependencies) -> Diagnosis:
    """Nothing waits for longer than its job takes; emails have a check of their own."""
    waiting, late = [], []
    for name, since, which, most in _QUEUES:
        age = await _age(dependencies.database, since, which)
        if age > most:
            late.append(f"{name} have waited for {_shown(age)}")
        elif age:
            waiting.append(f"{name} for {_shown(age)}")
    if late:
        text = f"{'; '.join(late)}: see the jobs in the log (docs/operations/runbooks)"
        return Diagnosis("queues", passed=False, text=text)
    return Diagnosis("queues", passed=True, text=", ".join(waiting) or "nothing waits")


async def _age(
    database: Database, since: "sa.Column[object]", which: sa.ColumnElement[bool]
) -> timedelta:
    async with database.transaction() as transaction:
        oldest = sa.select(sa.func.min(since)).where(which).scalar_subquery()
        age = await transaction.connection.scalar(
            sa.select(sa.func.greatest(sa.func.clock_timestamp() - oldest, timedelta()))
        )
    return age if isinstance(age, timedelta) else timedelta()


def _shown(age: timedelta) -> str:
    if age < 2 * _HOUR:
        return f"{age / timedelta(minutes=1):.0f} minutes"
    return f"{age // _HOUR} hours"
