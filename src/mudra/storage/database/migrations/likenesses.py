"""Likenesses of the names and codes of entries that 1.0.0 stored without them."""

import json
from typing import Final

import sqlalchemy as sa

from mudra.registry.payload.fields.likeness import likeness

_HELD: Final = sa.text(
    "SELECT entity_id, number, body FROM registry_version"
    " WHERE status = 'live' OR status = 'approved'"
)
_FILL: Final = sa.text(
    "UPDATE registry_version SET name_likeness = :name, code_likeness = :code"
    " WHERE entity_id = :entity_id AND number = :number"
)


def fill_likenesses(connection: sa.Connection) -> None:
    """Store how name and code of each live or approved version look."""
    for entity_id, number, body in connection.execute(_HELD).all():
        info = json.loads(bytes(body))["entityinfo"]
        alike = {what: likeness(info[what]) for what in ("name", "code")}
        connection.execute(_FILL, {"entity_id": entity_id, "number": number, **alike})
