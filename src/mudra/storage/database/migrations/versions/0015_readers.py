"""Readers of an entity: people who see its pages and change nothing."""

from alembic import op

revision = "0015"
down_revision = "0014"
works_with = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        CREATE TABLE entity_reader (
            entity_id text NOT NULL
                CONSTRAINT fk_entity_reader_entity_id REFERENCES entity (entity_id),
            user_id uuid NOT NULL
                CONSTRAINT fk_entity_reader_user_id REFERENCES user_account (user_id),
            since timestamptz NOT NULL,
            CONSTRAINT pk_entity_reader PRIMARY KEY (entity_id, user_id)
        )
    """)
    op.execute("CREATE INDEX ix_entity_reader_user_id ON entity_reader (user_id)")
    op.execute("ALTER TABLE admin_invitation ADD COLUMN role text NOT NULL DEFAULT 'admin'")
