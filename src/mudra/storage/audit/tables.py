"""Tables of the audit chain, next to the events themselves."""

from typing import Final

import sqlalchemy as sa

from mudra.storage.database.tables import metadata

audit_seal: Final = sa.Table(
    "audit_seal",
    metadata,
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("seq", sa.ForeignKey("audit_event.seq"), nullable=False, unique=True),
    sa.Column("hash", sa.LargeBinary, nullable=False),
)
