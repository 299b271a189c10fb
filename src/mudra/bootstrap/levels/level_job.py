"""The job that makes the reports of a month, with the keys of this node."""

from datetime import timedelta
from typing import Final

from mudra.bootstrap.dependencies import Dependencies
from mudra.http.levels.signing import signing
from mudra.jobs.scheduler import Job
from mudra.levels.monthly import make_last_month
from mudra.tokens.signing_keys.node_keys import NodeKeys

_DAY: Final = timedelta(days=1)
_AT: Final = timedelta(hours=1, minutes=10)
"""06:40 in India: the last windows of the day before are there, and their sums."""
_LIMIT: Final = timedelta(hours=6)


def level_job(dependencies: Dependencies) -> Job:
    """Returns the job; it runs daily, as late reports and decisions change the last month."""
    found = dependencies
    keys = NodeKeys(
        *(found.database, found.invalidation, found.clock), found.settings.token_type_header
    )

    async def run() -> None:
        await keys.ready()
        await make_last_month(found.transaction, signing(keys))

    return Job(name="level-reports", every=_DAY, offset=_AT, run=run, limit=_LIMIT)
