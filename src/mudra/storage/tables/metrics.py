"""Tables of network metrics in SQLAlchemy Core; block_tables.py has the metrics themselves.

Every key begins with `aa_id`, so what belongs to one AA is in one place. Tables of the whole
network have none; they are small.
"""

from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TIMESTAMP, UUID

from mudra.storage.tables.metadata import at, metadata

metrics_received: Final = sa.Table(
    "metrics_received",
    metadata,
    at("at"),
    sa.Column("aa_id", sa.Text, nullable=False),
    sa.Column("tag", sa.Text, nullable=False),
    sa.Column("windows", sa.Integer, nullable=False),
    sa.PrimaryKeyConstraint("aa_id", "at", "tag"),
    sa.Index("ix_metrics_received_at", "at"),
)
"""The number of windows of a day that an AA reported, with or without traffic."""

metrics_daily: Final = sa.Table(
    "metrics_daily",
    metadata,
    sa.Column("day", sa.Date, nullable=False),
    sa.Column("fip_id", sa.Text, nullable=False),
    sa.Column("type", sa.Text, nullable=False),
    *(
        sa.Column(name, sa.Numeric, nullable=False)
        for name in ("total", "succeeded", "errors_4xx", "errors_5xx")
    ),
    *(sa.Column(name, sa.BigInteger) for name in ("p50", "p95", "p99")),
    sa.PrimaryKeyConstraint("day", "fip_id", "type"),
    sa.Index("ix_metrics_daily_fip_id", "fip_id", "day"),
)
"""Requests to each FIP by day (UTC) and type, over all AAs: for people who ask in SQL.

The service reads it never. Percentiles are estimates in milliseconds, NULL without an answer.
"""

metrics_receipt: Final = sa.Table(
    "metrics_receipt",
    metadata,
    sa.Column("receipt_id", UUID(as_uuid=False), nullable=False),
    sa.Column("aa_id", sa.Text, nullable=False),
    sa.Column("tag", sa.Text, nullable=False),
    at("window_at"),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("txn_id", sa.Text, nullable=False),
    sa.Column("content_hash", sa.LargeBinary, nullable=False),
    at("received_at"),
    sa.Column("blocks", sa.Integer, nullable=False),
    sa.Column("findings", JSONB, nullable=False),
    sa.Column("calls", sa.Numeric, nullable=False, server_default="0"),
    sa.PrimaryKeyConstraint("aa_id", "receipt_id"),
    sa.UniqueConstraint("aa_id", "tag", "window_at", "version"),
    sa.Index("ix_metrics_receipt_receipt_id", "receipt_id"),
    sa.Index("ix_metrics_receipt_window", "window_at", "aa_id", "tag", "version"),
)


def _of_receipt(ondelete: str | None = None) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["aa_id", "receipt_id"],
        ["metrics_receipt.aa_id", "metrics_receipt.receipt_id"],
        ondelete=ondelete,
    )


metrics_held: Final = sa.Table(
    "metrics_held",
    metadata,
    sa.Column("receipt_id", UUID(as_uuid=False), nullable=False),
    sa.Column("aa_id", sa.Text, nullable=False),
    sa.Column("buckets", sa.LargeBinary, nullable=False),
    sa.Column("doubt", sa.Text, nullable=False),
    sa.Column("claimed", sa.Numeric, nullable=False),
    sa.Column("plausible", sa.Numeric, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("decided_by", sa.Text, nullable=False, server_default=""),
    sa.Column("decided_at", TIMESTAMP(timezone=True)),
    sa.CheckConstraint("state IN ('waiting', 'admitted', 'refused')", name="state"),
    sa.PrimaryKeyConstraint("aa_id", "receipt_id"),
    _of_receipt(ondelete="CASCADE"),
)
"""Implausible reports; the blocks of an admitted one are in `metrics_block` as well."""

metrics_push: Final = sa.Table(
    "metrics_push",
    metadata,
    sa.Column("aa_id", sa.Text, primary_key=True),
    sa.Column("txn_id", sa.Text, primary_key=True),
    sa.Column("receipt_id", UUID(as_uuid=False), nullable=False),
    _of_receipt(),
    sa.Index("ix_metrics_push_receipt_id", "aa_id", "receipt_id"),
)

metrics_refused: Final = sa.Table(
    "metrics_refused",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(always=True), nullable=False),
    sa.Column("aa_id", sa.Text, nullable=False),
    at("at"),
    sa.Column("total", sa.Integer, nullable=False),
    sa.Column("findings", JSONB, nullable=False),
    sa.PrimaryKeyConstraint("aa_id", "id"),
    sa.Index("ix_metrics_refused_aa_id", "aa_id", "at"),
)

metrics_stale: Final = sa.Table(
    "metrics_stale",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(always=True), nullable=False),
    sa.Column("grain", sa.Text, nullable=False),
    sa.Column("aa_id", sa.Text, nullable=False),
    sa.Column("tag", sa.Text, nullable=False),
    at("at"),
    sa.Column("noted_at", TIMESTAMP(timezone=True), nullable=False, server_default=sa.func.now()),
    sa.CheckConstraint("grain IN ('window', 'hour', 'day')", name="grain"),
    sa.PrimaryKeyConstraint("aa_id", "id"),
    sa.Index("ix_metrics_stale_at", "at"),
    sa.Index("ix_metrics_stale_id", "id"),
)
"""Windows, hours and days with sums older than what they are made of; written with that.

A window of one AA is to be judged by detection; with an empty `aa_id` its sums are stale.

`noted_at` is the real time, also where the sandbox has moved its clock.
"""

metrics_attribution: Final = sa.Table(
    "metrics_attribution",
    metadata,
    sa.Column("window_at", TIMESTAMP(timezone=True), primary_key=True),
    sa.Column("journal", sa.LargeBinary, nullable=False),
)
"""What detection remembers after a window (metrics/detection/journal.py): of hours, the last."""

metrics_fip_state: Final = sa.Table(
    "metrics_fip_state",
    metadata,
    sa.Column("window_at", TIMESTAMP(timezone=True), primary_key=True),
    sa.Column("counts", sa.LargeBinary, nullable=False),
    sa.Column("states", sa.LargeBinary, nullable=False),
)
"""The calls to FIPs in each window of six hours, and the states that follow from them."""

metrics_own_calls: Final = sa.Table(
    "metrics_own_calls",
    metadata,
    sa.Column("span", sa.Text, nullable=False),
    at("at"),
    sa.Column("calls", sa.LargeBinary, nullable=False),
    sa.CheckConstraint("span IN ('hour', 'day', 'changes')", name="span"),
    sa.PrimaryKeyConstraint("span", "at"),
)
"""The calls of customers to each FIP that no cause elsewhere and no maintenance explains.

One row has the rates that have changed for good, as the last full hour shows.
"""

metrics_incident: Final = sa.Table(
    "metrics_incident",
    metadata,
    sa.Column("incident_id", UUID(as_uuid=False), primary_key=True),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("entity_id", sa.Text, nullable=False),
    sa.Column("type", sa.Text, nullable=False),
    at("began"),
    at("last_bad"),
    sa.Column("ended", TIMESTAMP(timezone=True)),
    sa.Column("ending", sa.Text, nullable=False),
    sa.Column("bad_windows", sa.Integer, nullable=False),
    sa.Column("succeeded", sa.BigInteger, nullable=False),
    sa.Column("eligible", sa.BigInteger, nullable=False),
    sa.Column("peer_id", sa.Text, nullable=False, server_default=""),
    sa.Column("refused", sa.Boolean, nullable=False),
    at("detected"),
    sa.Column("cause", JSONB, nullable=False),
    sa.Column("timeline", JSONB, nullable=False),
    sa.Column("recipients", ARRAY(sa.Text), nullable=False),
    at("changed_at"),
    sa.Column("acknowledged_by", sa.Text),
    sa.Column("acknowledged_at", TIMESTAMP(timezone=True)),
    sa.Column("notified", sa.Boolean, nullable=False, server_default=sa.true()),
    sa.Column("escalated_at", TIMESTAMP(timezone=True)),
    sa.Column("decision", sa.Text),
    sa.Column("decided_at", TIMESTAMP(timezone=True)),
    sa.CheckConstraint("decision IN ('closed', 'reopened')", name="decision"),
    # One incident is one cause; refused requests (4xx) are a trouble of their own.
    sa.Index(
        "metrics_incident_once",
        *("entity_id", "peer_id", "began", "kind", "type", "refused"),
        unique=True,
        postgresql_where=sa.text("ending <> 'withdrawn'"),
    ),
    sa.Index("ix_metrics_incident_peer_id", "peer_id"),
    sa.Index("metrics_incident_open", "began", postgresql_where=sa.text("ended IS NULL")),
    sa.Index(
        "metrics_incident_reopened", "began", postgresql_where=sa.text("decision = 'reopened'")
    ),
)

capacity_notice: Final = sa.Table(
    "capacity_notice",
    metadata,
    sa.Column("entity_id", sa.Text, primary_key=True),
    at("noticed_at"),
    sa.Column("day", sa.Date, nullable=False),
    sa.Column("calls", sa.BigInteger, nullable=False),
    sa.Column("at_most", sa.BigInteger, nullable=False),
    sa.Column("handled_day", sa.Date, nullable=False),
    sa.Column("handled", sa.BigInteger, nullable=False),
)
"""Notices that were announced and are not over; an empty `entity_id` is the network."""

incident_act: Final = sa.Table(
    "incident_act",
    metadata,
    sa.Column(
        "incident_id",
        sa.ForeignKey("metrics_incident.incident_id", ondelete="CASCADE"),
        primary_key=True,
    ),
    sa.Column("number", sa.Integer, primary_key=True),
    at("at"),
    sa.Column("actor", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("owner", sa.Text, nullable=False),
)
"""What people did about incidents, numbered from 1 for each."""
