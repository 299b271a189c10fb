"""Compares names by how they look, keeps who onboarded a member (0189), and counts refused acts."""

import json

import sqlalchemy as sa
from alembic import op

from mudra.registry.payload.fields.likeness import likeness

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None
works_with = "0026"

_HELD = sa.text(
    "SELECT entity_id, number, body FROM registry_version"
    " WHERE status = 'live' OR status = 'approved'"
)
_FILL = sa.text(
    "UPDATE registry_version SET name_likeness = :name, code_likeness = :code"
    " WHERE entity_id = :entity_id AND number = :number"
)


def upgrade() -> None:
    op.execute(
        "CREATE TABLE audit_refused (minute timestamptz NOT NULL, actor text NOT NULL,"
        " event text NOT NULL, reason text NOT NULL, address text NOT NULL, txn_id text NOT NULL,"
        " count bigint NOT NULL, first_at timestamptz NOT NULL, last_at timestamptz NOT NULL,"
        " CONSTRAINT pk_audit_refused PRIMARY KEY (minute, actor, event, reason))"
    )
    op.execute("ALTER TABLE entity ADD COLUMN onboarded_by uuid")
    for what in ("name", "code"):
        op.execute(
            f"ALTER TABLE registry_version ADD COLUMN {what}_likeness text NOT NULL DEFAULT ''"
        )
    connection = op.get_bind()
    for entity_id, number, body in connection.execute(_HELD).all():
        info = json.loads(bytes(body))["entityinfo"]
        alike = {what: likeness(info[what]) for what in ("name", "code")}
        connection.execute(_FILL, {"entity_id": entity_id, "number": number, **alike})
    for what in ("name", "code"):
        op.execute(
            f"CREATE INDEX registry_version_{what}_held ON registry_version ({what}_likeness)"
            " WHERE status = 'live' OR status = 'approved'"
        )
