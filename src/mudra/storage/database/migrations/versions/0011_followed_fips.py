"""The FIPs that a FIU follows: its health page and its alarms are about them."""

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        CREATE TABLE followed_fip (
            entity_id text NOT NULL
                CONSTRAINT fk_followed_fip_entity_id REFERENCES entity (entity_id),
            fip_id text NOT NULL,
            CONSTRAINT pk_followed_fip PRIMARY KEY (entity_id, fip_id)
        )
    """)
    op.execute("CREATE INDEX ix_followed_fip_fip_id ON followed_fip (fip_id)")
