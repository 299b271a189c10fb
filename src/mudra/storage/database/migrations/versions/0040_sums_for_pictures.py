"""Sums over all AAs, sums of pairs, windows heard by day; spreads packed into one column."""

import msgspec
import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0040"
down_revision = "0062"
branch_labels = None
depends_on = None

_SPREAD = ("cells", "surely", "maybe", "likely")
_KEY = ("at", "aa_id", "tag", "fip_id", "type")
_BATCH = 1000


def upgrade() -> None:
    for table in ("metrics_hour", "metrics_day"):
        op.add_column(table, sa.Column("spread", sa.LargeBinary()))
        _pack(table)
        op.alter_column(table, "spread", nullable=False)
        for name in _SPREAD:
            op.drop_column(table, name)
        op.drop_index(f"ix_{table}_fip_id", table)
        op.create_index(f"ix_{table}_fip_id", table, ["fip_id", "at", "aa_id"])
    for table, partitioned in (("metrics_pair_hour", "RANGE (at)"), ("metrics_pair_day", None)):
        op.create_table(
            table,
            _at(),
            *(sa.Column(name, sa.Text(), nullable=False) for name in ("type", "aa_id", "fip_id")),
            *(
                sa.Column(name, sa.BigInteger(), nullable=False)
                for name in (
                    *("total", "succeeded", "client_errors", "answered"),
                    *("soon_surely", "soon_maybe", "soon_likely", "longest"),
                )
            ),
            sa.PrimaryKeyConstraint("at", "type", "aa_id", "fip_id", name=op.f(f"pk_{table}")),
            postgresql_partition_by=partitioned,
        )
    op.create_table(
        "metrics_heard",
        _at(),
        sa.Column("aa_id", sa.Text(), nullable=False),
        sa.Column("tag", sa.Text(), nullable=False),
        sa.Column("windows", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("at", "aa_id", "tag", name=op.f("pk_metrics_heard")),
    )
    # What is new is made from the raw rows that are still there, and from the days.
    op.execute(
        "INSERT INTO metrics_stale (grain, aa_id, tag, at)"
        " SELECT DISTINCT 'hour', aa_id, tag, date_trunc('hour', window_at, 'UTC')"
        " FROM metrics_receipt WHERE window_at >= date_trunc('day', ("
        "   SELECT min(window_at) FROM metrics_raw), 'UTC')"
        " UNION SELECT DISTINCT 'day', '', tag, at FROM metrics_day"
    )


def downgrade() -> None:
    """Sums are made anew from the raw rows; days that are older than these are lost."""
    for table in ("metrics_heard", "metrics_pair_day", "metrics_pair_hour"):
        op.drop_table(table)
    for table in ("metrics_hour", "metrics_day"):
        op.execute(sa.delete(sa.table(table)))
        op.drop_column(table, "spread")
        op.add_column(
            table, sa.Column("cells", postgresql.ARRAY(sa.SmallInteger()), nullable=False)
        )
        for name in _SPREAD[1:]:
            op.add_column(table, sa.Column(name, postgresql.ARRAY(sa.BigInteger()), nullable=False))
        op.drop_index(f"ix_{table}_fip_id", table)
        op.create_index(f"ix_{table}_fip_id", table, ["fip_id", "at"])
    op.execute(
        "INSERT INTO metrics_stale (grain, aa_id, tag, at)"
        " SELECT DISTINCT 'hour', aa_id, tag, date_trunc('hour', window_at, 'UTC')"
        " FROM metrics_receipt"
    )


def _at() -> sa.Column[object]:
    return sa.Column("at", postgresql.TIMESTAMP(timezone=True), nullable=False)


def _pack(name: str) -> None:
    connection = op.get_bind()
    table = sa.table(name, *map(sa.column, (*_KEY, *_SPREAD, "spread")))
    c = table.c
    todo = sa.select(*(c[key] for key in (*_KEY, *_SPREAD))).where(c.spread.is_(None)).limit(_BATCH)
    while rows := connection.execute(todo).all():
        for row in rows:
            key, spread = row[: len(_KEY)], row[len(_KEY) :]
            connection.execute(
                sa.update(table)
                .where(*(c[name] == value for name, value in zip(_KEY, key, strict=True)))
                .values(spread=_packed(*spread))
            )


def _packed(cells: list[int], *rises: list[int]) -> bytes:
    """From the first cell on without holes, as MessagePack."""
    if not cells:
        return msgspec.msgpack.encode((0, 0, [], [], []))
    full = [[0] * (cells[-1] - cells[0] + 1) for _ in rises]
    for held, added in zip(full, rises, strict=True):
        for cell, calls in zip(cells, added, strict=True):
            held[cell - cells[0]] = calls
    return msgspec.msgpack.encode((0, cells[0], *full))
