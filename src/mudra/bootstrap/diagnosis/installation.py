"""The check of `mudra doctor` of what git does not have, and a package has only if it was built."""

from typing import Final

import psycopg

from mudra.bootstrap.dependencies import Dependencies
from mudra.console.framework.static_assets import ASSETS, DOCUMENTATION, AssetStore
from mudra.overview.administration import Diagnosis
from mudra.shared.time_text import iso_ms
from mudra.storage.database.embedded.programs import MAJOR_VERSION, SETTING
from mudra.storage.database.server.server_version import RELEASED, lacking, server_version
from mudra.storage.metrics.blocks.checking import (
    CHECK_S,
    damaged_of_latest,
    last_check,
    still_damaged,
)

_BUILT: Final = "run make assets site before the package is built (docs/operations/running.md)"


def installation(
    documentation: AssetStore = DOCUMENTATION, assets: AssetStore = ASSETS
) -> Diagnosis:
    """Say what was not built: everything else works without, so it is no fault of the service."""
    lacking = []
    if documentation.find("index.html") is None:
        lacking.append("no documentation: /docs and the runbooks of alerts answer 404")
    if assets.find("built/charts.min.js") is None:
        lacking.append("no charts: pages show tables in their place")
    text = f"{'; '.join(lacking)}; {_BUILT}" if lacking else "documentation and charts are there"
    return Diagnosis("installation", passed=True, text=text)


_NAME = "metrics blocks"
_SHOWN = 5


async def metrics_blocks(dependencies: Dependencies) -> Diagnosis:
    """Read some of the latest blocks, and tell what the last check of all found."""
    async with dependencies.database.transaction(within_s=CHECK_S) as transaction:
        await transaction.take_time(CHECK_S)
        latest = await damaged_of_latest(transaction)
        last = await last_check(transaction)
        known = await still_damaged(transaction, last) if last else ()
    checked = f"all were last checked at {iso_ms(last.at)}" if last else "never checked as a whole"
    if places := {one.place for one in latest} | {*known}:
        shown = "; ".join(sorted(one.words for one in places)[:_SHOWN])
        text = f"{len(places)} damaged ({checked}): {shown}: run mudra metrics remake --damaged"
        return Diagnosis(_NAME, passed=False, text=text)
    return Diagnosis(_NAME, passed=True, text=f"the latest are intact; {checked}, by metrics check")


async def postgresql(dependencies: Dependencies) -> Diagnosis:
    """Say the version, and warn of one that lacks fixes: Mudra works with it all the same."""
    with psycopg.connect(dependencies.database.direct, connect_timeout=5) as connection:
        version = server_version(connection)
    embedded = dependencies.settings.database_url is None
    text = f"{version}, embedded" if embedded else version
    least = lacking(version)
    if least is None:
        return Diagnosis("postgresql", passed=True, text=text)
    advice = (
        f"install a newer Mudra or Debian's postgresql-{MAJOR_VERSION}, or set {SETTING} to newer "
        "programs, and restart every process that uses it"
        if embedded
        else "update the server"
    )
    text = f"{text} lacks security fixes of {least} ({RELEASED}): {advice}"
    return Diagnosis("postgresql", passed=True, text=text, warns=True)
