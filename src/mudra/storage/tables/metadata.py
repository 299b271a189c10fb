"""The ground of all table definitions."""

from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import TIMESTAMP

metadata: Final = sa.MetaData(
    naming_convention={
        "ix": "ix_%(column_0_label)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def at(name: str, *, nullable: bool = False) -> sa.Column[object]:
    """Returns a column of a time."""
    return sa.Column(name, TIMESTAMP(timezone=True), nullable=nullable)
