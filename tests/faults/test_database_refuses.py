"""A database that lets no one in: /readyz and the log say why, in PostgreSQL's own words (44, 8)."""

from collections.abc import Iterator
from pathlib import Path

import httpx2
import psycopg
import pytest
from tests.support.database.own_postgres import as_superuser, own_postgres
from tests.support.depth import with_every_change
from tests.support.http_clients import NO_TLS
from tests.support.members import new_member
from tests.support.process import running_service
from tests.support.processes import forked_by
from tests.support.service import Service

from mudra.shared.unavailable import Outage
from mudra.storage.database.outage import outage_of
from mudra.storage.database.schema.roles import OWNER, SERVICE

PASSWORD = "hush-hush-1"


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """A server that asks the service's role for a password."""
    folder = tmp_path_factory.mktemp("own") / "database"
    with own_postgres(folder) as url:
        rules = folder / "postgres" / "pg_hba.conf"
        rules.write_text(f"local all {SERVICE} scram-sha-256\n{rules.read_text()}")
        as_superuser(url, f"ALTER ROLE {SERVICE} PASSWORD '{PASSWORD}'", "SELECT pg_reload_conf()")
        yield url, folder


@pytest.fixture(scope="module")
def service(
    tmp_path_factory: pytest.TempPathFactory, database: tuple[str, Path]
) -> Iterator[Service]:
    url, _ = database
    with running_service(
        tmp_path_factory.mktemp("node") / "data",
        MUDRA_DATABASE_URL=url.replace("//postgres@", f"//{SERVICE}:{PASSWORD}@"),
        MUDRA_DATABASE_OWNER_URL=url.replace("//postgres@", f"//{OWNER}@"),
    ) as running:
        yield running


REFUSALS = [
    (
        f"ALTER ROLE {SERVICE} CONNECTION LIMIT 0",
        f"ALTER ROLE {SERVICE} CONNECTION LIMIT -1",
        "the service's database takes no more connections",
        f'too many connections for role \\"{SERVICE}\\"',
        "connection-limit",
    ),
    (
        f"ALTER ROLE {SERVICE} PASSWORD 'another'",
        f"ALTER ROLE {SERVICE} PASSWORD '{PASSWORD}'",
        "the service's database refuses its sign-in",
        f'password authentication failed for user \\"{SERVICE}\\"',
        "sign-in-refused",
    ),
]


@pytest.mark.parametrize(
    ("refuse", "admit", "said", "words", "cause"),
    with_every_change(REFUSALS[1:], REFUSALS),
    ids=["limit", "password"],
)
def test_the_cause_is_said_and_its_words_are_logged(
    service: Service,
    database: tuple[str, Path],
    refuse: str,
    admit: str,
    said: str,
    words: str,
    cause: str,
) -> None:
    url, _ = database
    ended = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{SERVICE}'"
    service.wait_until(lambda: ready(service).status_code == 200)
    as_superuser(url, refuse, ended)
    try:
        service.wait_until(lambda: said in ready(service).text, show=lambda: ready(service).text)
        service.wait_until(lambda: words in log(service), show=lambda: log(service)[-2000:])
    finally:
        as_superuser(url, admit)
    service.wait_until(lambda: ready(service).status_code == 200)
    assert new_member(service).secret()
    assert f'"cause": "{cause}"' in log(service)
    assert PASSWORD not in log(service)


def test_connections_and_processes_are_named(service: Service, database: tuple[str, Path]) -> None:
    url, _ = database
    assert new_member(service).secret()
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT DISTINCT application_name FROM pg_stat_activity WHERE usename = %s", [SERVICE]
        ).fetchall()

    assert {"mudra worker-0", "mudra jobs"} <= {name for (name,) in rows}
    assert set(forked_by(service.process.pid)) == {"worker-0", "jobs"}
    assert title(service.process.pid) == "mudra serve: supervisor"


def title(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").decode()


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        ("FATAL:  sorry, too many clients already", Outage.CONNECTION_LIMIT),
        (
            "FATAL:  remaining connection slots are reserved for roles with the SUPERUSER attribute",
            Outage.CONNECTION_LIMIT,
        ),
        ("FATAL:  no more connections allowed (max_client_conn)", Outage.CONNECTION_LIMIT),
        ('FATAL:  database "mudra" does not exist', Outage.SIGN_IN_REFUSED),
        ('FATAL:  no pg_hba.conf entry for host "10.0.0.1"', Outage.SIGN_IN_REFUSED),
        ("server is in hot standby mode", Outage.STANDBY),
        (
            "FATAL:  sorry, too many clients already\nserver is in hot standby mode",
            Outage.CONNECTION_LIMIT,
        ),
        ("Connection refused", Outage.UNREACHABLE),
    ],
)
def test_words_of_a_connection_that_was_not_made_name_a_cause(words: str, cause: Outage) -> None:
    found = outage_of(psycopg.OperationalError(words))

    assert found is not None
    assert found.cause is cause
    assert words.split("\n", maxsplit=1)[0].rsplit("  ", maxsplit=1)[-1] in str(found)


def ready(service: Service) -> httpx2.Response:
    return httpx2.get(f"{service.root}/readyz", verify=NO_TLS)


def log(service: Service) -> str:
    return (service.data_dir / "mudra.log").read_text()
