"""Network metrics: raw rows by day, sums by hour and day, receipts."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0020"
down_revision = "0030"
branch_labels = None
depends_on = None


def _at(name: str) -> sa.Column[object]:
    return sa.Column(name, postgresql.TIMESTAMP(timezone=True), nullable=False)


def _cell() -> list[sa.Column[object]]:
    return [
        sa.Column(name, sa.Text(), nullable=False) for name in ("aa_id", "tag", "fip_id", "type")
    ]


def _numbers(name: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, postgresql.ARRAY(sa.BigInteger()), nullable=nullable)


def _figures() -> list[sa.Column[object]]:
    return [
        _numbers("counts"),
        _numbers("pxx", nullable=True),
        _numbers("status", nullable=True),
        sa.Column("data_bytes", sa.Numeric(), nullable=True),
    ]


def _sums() -> list[sa.Column[object]]:
    return [
        sa.Column("blocks", sa.Integer(), nullable=False),
        _numbers("counts"),
        _numbers("statuses"),
        sa.Column("data_bytes", sa.Numeric(), nullable=False),
        sa.Column("cells", postgresql.ARRAY(sa.SmallInteger()), nullable=False),
        _numbers("surely"),
        _numbers("maybe"),
        _numbers("likely"),
        sa.Column("longest", sa.BigInteger(), nullable=False),
    ]


def upgrade() -> None:
    op.create_table(
        "metrics_raw",
        _at("window_at"),
        *_cell(),
        *_figures(),
        sa.PrimaryKeyConstraint(
            "window_at", "aa_id", "tag", "fip_id", "type", name=op.f("pk_metrics_raw")
        ),
        postgresql_partition_by="RANGE (window_at)",
    )
    op.create_table(
        "metrics_former",
        _at("window_at"),
        *_cell(),
        sa.Column("version", sa.Integer(), nullable=False),
        *_figures(),
        sa.PrimaryKeyConstraint(
            "window_at",
            "aa_id",
            "tag",
            "fip_id",
            "type",
            "version",
            name=op.f("pk_metrics_former"),
        ),
        postgresql_partition_by="RANGE (window_at)",
    )
    for name, partitioned in (("metrics_hour", "RANGE (at)"), ("metrics_day", None)):
        op.create_table(
            name,
            _at("at"),
            *_cell(),
            *_sums(),
            sa.PrimaryKeyConstraint(
                "at", "aa_id", "tag", "fip_id", "type", name=op.f(f"pk_{name}")
            ),
            postgresql_partition_by=partitioned,
        )
        op.create_index(f"ix_{name}_fip_id", name, ["fip_id", "at"])
    op.create_table(
        "metrics_receipt",
        sa.Column("receipt_id", sa.UUID(as_uuid=False), nullable=False),
        sa.Column("aa_id", sa.Text(), nullable=False),
        sa.Column("tag", sa.Text(), nullable=False),
        _at("window_at"),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("txn_id", sa.Text(), nullable=False),
        sa.Column("content_hash", sa.LargeBinary(), nullable=False),
        _at("received_at"),
        sa.Column("blocks", sa.Integer(), nullable=False),
        sa.Column("findings", postgresql.JSONB(), nullable=False),
        sa.PrimaryKeyConstraint("receipt_id", name=op.f("pk_metrics_receipt")),
        sa.UniqueConstraint(
            "aa_id", "tag", "window_at", "version", name=op.f("uq_metrics_receipt_aa_id")
        ),
    )
    op.create_index(
        "ix_metrics_receipt_window", "metrics_receipt", ["window_at", "aa_id", "tag", "version"]
    )
    op.create_table(
        "metrics_push",
        sa.Column("aa_id", sa.Text(), nullable=False),
        sa.Column("txn_id", sa.Text(), nullable=False),
        sa.Column("receipt_id", sa.UUID(as_uuid=False), nullable=False),
        sa.ForeignKeyConstraint(
            ["receipt_id"],
            ["metrics_receipt.receipt_id"],
            name=op.f("fk_metrics_push_receipt_id"),
        ),
        sa.PrimaryKeyConstraint("aa_id", "txn_id", name=op.f("pk_metrics_push")),
    )
    op.create_table(
        "metrics_refused",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("aa_id", sa.Text(), nullable=False),
        _at("at"),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("findings", postgresql.JSONB(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_metrics_refused")),
    )
    op.create_index("ix_metrics_refused_aa_id", "metrics_refused", ["aa_id", "at"])
    op.create_table(
        "metrics_stale",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("grain", sa.Text(), nullable=False),
        sa.Column("aa_id", sa.Text(), nullable=False),
        sa.Column("tag", sa.Text(), nullable=False),
        _at("at"),
        sa.CheckConstraint(
            "grain IN ('window', 'hour', 'day')", name=op.f("ck_metrics_stale_grain")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_metrics_stale")),
    )
    op.create_index("ix_metrics_stale_at", "metrics_stale", ["at"])
    _incidents()


def _incidents() -> None:
    op.create_table(
        "metrics_observation",
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("entity_id", sa.Text(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        _at("window_at"),
        sa.Column("mark", sa.SmallInteger(), nullable=False),
        sa.Column("succeeded", sa.BigInteger(), nullable=False),
        sa.Column("judged", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint(
            "kind", "entity_id", "type", "window_at", name=op.f("pk_metrics_observation")
        ),
    )
    op.create_index("ix_metrics_observation_window", "metrics_observation", ["window_at"])
    op.create_table(
        "metrics_incident",
        sa.Column("incident_id", sa.UUID(as_uuid=False), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("entity_id", sa.Text(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        _at("began"),
        _at("last_bad"),
        sa.Column("ended", postgresql.TIMESTAMP(timezone=True), nullable=True),
        sa.Column("ending", sa.Text(), nullable=False),
        sa.Column("bad_windows", sa.Integer(), nullable=False),
        sa.Column("succeeded", sa.BigInteger(), nullable=False),
        sa.Column("judged", sa.BigInteger(), nullable=False),
        _at("changed_at"),
        sa.Column("acknowledged_by", sa.Text(), nullable=True),
        sa.Column("acknowledged_at", postgresql.TIMESTAMP(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("incident_id", name=op.f("pk_metrics_incident")),
    )
    op.create_index("ix_metrics_incident_subject", "metrics_incident", ["entity_id", "began"])
    op.create_index(
        "metrics_incident_open",
        "metrics_incident",
        ["began"],
        postgresql_where=sa.text("ended IS NULL"),
    )
