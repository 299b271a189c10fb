"""Keys of the metrics begin with the AA's ID: by the catalogue, also where a table was large."""

import uuid

import psycopg
from alembic import command
from psycopg.conninfo import make_conninfo
from sqlalchemy import NullPool, create_engine

from mudra.storage.database.migrate import migrate
from mudra.storage.database.upgrade import alembic_config
from mudra.storage.metrics.apart.distribution import (
    DISTRIBUTED,
    REFERENCE,
    distribution,
    former_keys,
)

_OF_THE_NETWORK = "metrics_incident"
"""What people act on stays with the people (decision 0119)."""


def test_every_table_of_the_metrics_is_shared_out_or_copied(conninfo: str) -> None:
    with psycopg.connect(conninfo) as connection:
        found = connection.execute(
            "SELECT relname FROM pg_class WHERE relname ~ '^(metrics_|handover$)' AND relkind IN ('r', 'p')"
            " AND NOT relispartition AND relnamespace = current_schema()::regnamespace"
        ).fetchall()

    assert {name for (name,) in found} == {*DISTRIBUTED, *REFERENCE, _OF_THE_NETWORK}


def test_every_key_begins_with_the_id_of_the_aa(conninfo: str) -> None:
    with psycopg.connect(conninfo) as connection:
        assert former_keys(connection) == []

        connection.execute("CREATE UNIQUE INDEX other ON metrics_refused (id)")
        connection.execute(
            "ALTER TABLE metrics_push ADD FOREIGN KEY (txn_id) REFERENCES alembic_version"
        )

        assert former_keys(connection) == ["metrics_push", "metrics_refused"]
        connection.rollback()


def test_a_large_table_keeps_its_key_in_the_upgrade_and_gets_the_new_one_later(
    conninfo: str,
) -> None:
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("CREATE DATABASE former TEMPLATE postgres")
    former = make_conninfo(conninfo, dbname="former")
    _upgrade(former, "0005")
    with psycopg.connect(former, autocommit=True) as connection:
        # A page for each row: 66 MB, of which few bytes are written.
        connection.execute("ALTER TABLE metrics_day SET (fillfactor = 10)")
        connection.execute(
            "INSERT INTO metrics_day SELECT '2026-01-01', 'AA', 'req', n::text, '1', 1, '{}', '{}',"
            " 0, convert_to(repeat('x', 900), 'UTF8'), 0 FROM generate_series(1, 8400) n"
        )
        first = _hold(connection)

    migrate(former)

    with psycopg.connect(former, autocommit=True) as connection:
        assert former_keys(connection) == ["metrics_day"]
        second = _hold(connection)  # by a node of the previous release
        assert set(connection.execute("SELECT receipt_id::text, aa_id FROM metrics_held")) == {
            (first, "AA"),
            (second, "AA"),
        }
        found = distribution(connection)
        assert found.former_keys == ["metrics_day"]
        for statement in found.statements[: found.statements.index(_CITUS)]:
            connection.execute(statement.encode())
        assert former_keys(connection) == []


_CITUS = "CREATE EXTENSION IF NOT EXISTS citus"


def _hold(connection: psycopg.Connection[tuple[object, ...]]) -> str:
    """Store an implausible report as the previous release does."""
    receipt_id = str(uuid.uuid4())
    connection.execute(
        "INSERT INTO metrics_receipt (receipt_id, aa_id, tag, window_at, version, txn_id,"
        " content_hash, received_at, blocks, findings) SELECT %s, 'AA', 'req', now(), count(*), '',"
        " '', now(), 0, '[]' FROM metrics_receipt",
        [receipt_id],
    )
    connection.execute(
        "INSERT INTO metrics_held (receipt_id, rows, doubt, claimed, plausible, state)"
        " VALUES (%s, '', '', 0, 0, 'waiting')",
        [receipt_id],
    )
    return receipt_id


def _upgrade(conninfo: str, revision: str) -> None:
    engine = create_engine(
        "postgresql+psycopg://", creator=lambda: psycopg.connect(conninfo), poolclass=NullPool
    )
    with engine.begin() as transaction:
        config = alembic_config()
        config.attributes["connection"] = transaction
        command.upgrade(config, revision)
