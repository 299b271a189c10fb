"""The table of tokens issued by entity and day."""

from typing import Final

import sqlalchemy as sa

from mudra.storage.database.tables import metadata

# No foreign key to the entity: the hot path's batches must not wait for its lock.
token_day: Final = sa.Table(
    "token_day",
    metadata,
    sa.Column("entity_id", sa.Text, primary_key=True),
    sa.Column("day", sa.Date, primary_key=True),
    sa.Column("count", sa.BigInteger, nullable=False),
)
