"""mudra doctor of what will fail: certificates that end, a disk that fills, queues that stop."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import psycopg
import pyrage
import pytest
from tests.support.database.template_database import prepare
from tests.support.forked_command import run_mudra
from tests.support.tls_server import tls_server

from mudra.bootstrap.node.serve import open_store
from mudra.settings.settings import Settings
from mudra.storage.database.schema.roles import OWNER, as_role

STALE = (
    "INSERT INTO metrics_stale (grain, aa_id, tag, at, noted_at)"
    " VALUES ('hour', 'AA', 'req', now(), now() - interval '27 hours')"
)
RUNNING = (
    "INSERT INTO node (node_id, proven_at)"
    " SELECT gen_random_uuid(), now() + interval '1 hour' FROM generate_series(1, %s)"
)
"""Processes that prove themselves until the doctor has started."""


def checks(data_dir: Path, **variables: str) -> dict[str, tuple[bool, str]]:
    done = run_mudra("doctor", "--json", MUDRA_DATA_DIR=str(data_dir), **variables)
    return {one["check"]: (one["ok"], one["text"]) for one in json.loads(done.stdout)}


class Store(NamedTuple):
    """A store that stays open between the commands: none has to start its server."""

    data_dir: Path
    connection: psycopg.Connection[tuple[object, ...]]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    data_dir = tmp_path_factory.mktemp("doctor") / "data"
    prepare(data_dir)
    with (
        open_store(Settings(data_dir=data_dir), create=True) as (conninfo, _),
        psycopg.connect(as_role(conninfo, OWNER), autocommit=True) as connection,
    ):
        connection.execute(STALE)
        yield Store(data_dir, connection)


def test_it_names_a_queue_that_stopped_a_certificate_that_ends_and_the_growth(
    store: Store, tmp_path: Path
) -> None:
    with tls_server(tmp_path, 8) as port:
        found = checks(store.data_dir, MUDRA_BASE_URL=f"https://localhost:{port}/iam")

    ok, text = found["queues"]
    assert not ok
    assert text.startswith("sums of metrics have waited for 27 hours: see the jobs in the log")
    ok, text = found["certificates"]
    assert not ok
    assert text.startswith(f"localhost:{port} for 7 days: renew it")
    ok, text = found["growth"]
    assert ok
    assert text.endswith("0.00 GiB more a day: the disk has room for it")


def test_a_backup_that_is_set_up_and_was_never_made_fails(store: Store) -> None:
    recipient = str(pyrage.x25519.Identity.generate().to_public())

    without, with_one = (
        checks(store.data_dir, **settings)["backup"]
        for settings in ({}, {"MUDRA_BACKUP_RECIPIENTS": recipient})
    )

    assert without == (True, "mudra backup create has not been used yet")
    assert with_one == (
        False,
        "none was made, though MUDRA_BACKUP_RECIPIENTS is set: run mudra backup create",
    )


@pytest.mark.parametrize(("processes", "passed"), [(18, True), (19, False)])
def test_the_server_takes_the_connections_of_all_nodes(
    store: Store, processes: int, *, passed: bool
) -> None:
    """Six nodes of two workers and a process of jobs each are about as many as 200 allow."""
    store.connection.execute("DELETE FROM node")
    store.connection.execute(RUNNING, [processes])
    ok, text = checks(store.data_dir)["connections"]

    assert ok is passed
    assert text.startswith(
        f"{processes} processes of all nodes open {processes * 11} at most, the server takes 200"
    )


def test_a_certificate_of_weeks_is_well_and_a_server_out_of_reach_is_said(tmp_path: Path) -> None:
    away = "postgresql://mudra@127.0.0.1:1/mudra"
    with tls_server(tmp_path, 30) as port:
        ok, text = checks(
            tmp_path, MUDRA_BASE_URL=f"https://localhost:{port}/iam", MUDRA_DATABASE_URL=away
        )["certificates"]

    assert ok
    assert text.startswith(f"localhost:{port} for 29 days, 127.0.0.1:1 not seen from here (")
