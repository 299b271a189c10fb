"""Table of the console's sessions."""

from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import TIMESTAMP

from mudra.storage.database.tables import metadata


def _at(name: str) -> sa.Column[object]:
    return sa.Column(name, TIMESTAMP(timezone=True), nullable=False)


console_session: Final = sa.Table(
    "console_session",
    metadata,
    sa.Column("key", sa.LargeBinary, primary_key=True),
    sa.Column("user_id", sa.ForeignKey("user_account.user_id"), nullable=False, index=True),
    sa.Column("csrf_token", sa.Text, nullable=False),
    _at("started_at"),
    _at("last_used_at"),
    _at("proven_at"),
    sa.Column("address", sa.Text, nullable=False),
)
