"""The faults that a sandbox shows to the clients of one entity."""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        CREATE TABLE sandbox_fault (
            fault_id uuid CONSTRAINT pk_sandbox_fault PRIMARY KEY,
            entity_id text NOT NULL
                CONSTRAINT fk_sandbox_fault_entity_id REFERENCES entity (entity_id),
            kind text NOT NULL,
            seconds integer NOT NULL,
            starts_at timestamptz NOT NULL,
            ends_at timestamptz NOT NULL,
            set_by text NOT NULL,
            by_operator boolean NOT NULL,
            kid text NOT NULL,
            public_jwk jsonb,
            sealed_private bytea
        )
    """)
    op.execute("CREATE INDEX ix_sandbox_fault_entity_id ON sandbox_fault (entity_id)")
    op.execute("CREATE INDEX ix_sandbox_fault_ends_at ON sandbox_fault (ends_at)")
