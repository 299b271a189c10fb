"""The table of how often each signing key was fetched, by member."""

from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import TIMESTAMP

from mudra.storage.database.tables import metadata

key_fetch: Final = sa.Table(
    "key_fetch",
    metadata,
    sa.Column("kid", sa.ForeignKey("signing_key.kid"), primary_key=True),
    sa.Column("entity_id", sa.Text, primary_key=True),
    sa.Column("count", sa.BigInteger, nullable=False),
    sa.Column("first_at", TIMESTAMP(timezone=True), nullable=False),
    sa.Column("last_at", TIMESTAMP(timezone=True), nullable=False),
)
