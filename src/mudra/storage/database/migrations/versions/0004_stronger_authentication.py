"""Binding of credentials to listed addresses, used DPoP proofs, probes of base URLs."""

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE entity ADD COLUMN address_binding text NOT NULL DEFAULT 'network'")
    op.execute("""
        ALTER TABLE entity ADD CONSTRAINT ck_entity_address_binding
            CHECK (address_binding IN ('network', 'watch', 'enforce'))
    """)
    op.execute("""
        CREATE TABLE used_proof (
            proof_hash bytea CONSTRAINT pk_used_proof PRIMARY KEY,
            expires_at timestamptz NOT NULL
        )
    """)
    op.execute("CREATE INDEX ix_used_proof_expires_at ON used_proof (expires_at)")
    op.execute("""
        CREATE TABLE registry_probe (
            probe_id uuid CONSTRAINT pk_registry_probe PRIMARY KEY,
            entity_id text NOT NULL
                CONSTRAINT fk_registry_probe_entity_id REFERENCES registry_entity (entity_id),
            version integer NOT NULL,
            requested_by text NOT NULL,
            requested_address text NOT NULL,
            txn_id text NOT NULL,
            requested_at timestamptz NOT NULL,
            done_at timestamptz,
            result jsonb
        )
    """)
    op.execute("CREATE INDEX ix_registry_probe_entity_id ON registry_probe (entity_id)")
    op.execute("CREATE INDEX ix_registry_probe_requested_at ON registry_probe (requested_at)")
