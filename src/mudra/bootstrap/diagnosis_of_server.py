"""The check of `mudra doctor` of the database's server: that it has PostgreSQL's known fixes."""

import psycopg

from mudra.bootstrap.dependencies import Dependencies
from mudra.overview.administration import Diagnosis
from mudra.storage.database.embedded.programs import MAJOR_VERSION, SETTING
from mudra.storage.database.server_version import RELEASED, lacking, server_version


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
