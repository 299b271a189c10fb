"""Tables of service levels: targets, the rule, every version of every report, budgets."""

from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB, UUID

from mudra.storage.tables.metadata import at, metadata

level_target: Final = sa.Table(
    "level_target",
    metadata,
    sa.Column("target_id", UUID(as_uuid=False), primary_key=True),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("measure", sa.Text, nullable=False),
    sa.Column("api", sa.Text, nullable=False),
    sa.Column("value", sa.Double, nullable=False),
    sa.Column("since", sa.Date, nullable=False),
    sa.Column("until", sa.Date),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("made_by", sa.Text, nullable=False),
    at("made_at"),
    sa.UniqueConstraint("role", "measure", "api", "since"),
)
"""An empty `api` means all of them together."""

level_report: Final = sa.Table(
    "level_report",
    metadata,
    sa.Column("report_id", UUID(as_uuid=False), primary_key=True),
    sa.Column("entity_id", sa.Text, nullable=False),
    at("starts"),
    at("ends"),
    sa.Column("version", sa.Integer, nullable=False),
    at("made_at"),
    sa.Column("made_by", sa.Text, nullable=False),
    sa.Column("report", sa.LargeBinary, nullable=False),
    sa.Column("signature", sa.Text, nullable=False),
    sa.Column("key", JSONB, nullable=False),
    sa.Column("evidence", sa.LargeBinary, nullable=False),
    sa.UniqueConstraint("entity_id", "starts", "ends", "version"),
    sa.Index("ix_level_report_starts", "starts", "ends"),
)
"""An empty `entity_id` is the network. `report` has the signed bytes; `evidence` is zlib's."""

level_burn: Final = sa.Table(
    "level_burn",
    metadata,
    sa.Column("entity_id", sa.Text, sa.ForeignKey("entity.entity_id"), nullable=False),
    at("starts"),
    sa.Column("measure", sa.Text, nullable=False),
    at("worked_out_at"),
    sa.Column("target", sa.Double, nullable=False),
    sa.Column("allowed", sa.BigInteger, nullable=False),
    sa.Column("spent", sa.BigInteger, nullable=False),
    sa.Column("counted", sa.BigInteger, nullable=False),
    sa.Column("left_percent", sa.Double, nullable=False),
    sa.Column("day_rate", sa.Double, nullable=False),
    sa.Column("week_rate", sa.Double, nullable=False),
    at("gone_at", nullable=True),
    sa.Column("outlook", sa.Text, nullable=False),
    sa.Column("announced", sa.Text, nullable=False),
    sa.PrimaryKeyConstraint("entity_id", "starts", "measure"),
    sa.CheckConstraint("outlook IN ('within', 'burning', 'gone')", name="outlook"),
    sa.CheckConstraint("announced IN ('within', 'burning', 'gone')", name="announced"),
)
"""The budget of a month as it was when it was last worked out; `announced` is the worst outlook
about which an alarm was sent."""

level_rule: Final = sa.Table(
    "level_rule",
    metadata,
    sa.Column("since", sa.Date, primary_key=True),
    sa.Column("notice_hours", sa.Integer, nullable=False),
    sa.Column("hours_a_month", sa.Integer, nullable=False),
    sa.Column("league", sa.Boolean, nullable=False),
    sa.Column("published", sa.Boolean, nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("made_by", sa.Text, nullable=False),
    at("made_at"),
)
"""The rules of a network: each holds from its day on, until that of a later one."""
