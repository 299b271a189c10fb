"""Subscriptions to the public status by webhook: their address, its proof, and their limits."""

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        ALTER TABLE status_subscription
            ADD COLUMN url text NOT NULL DEFAULT '',
            ADD COLUMN host text NOT NULL DEFAULT '',
            ADD COLUMN opted_at timestamptz,
            DROP CONSTRAINT uq_status_subscription_email,
            ADD CONSTRAINT uq_status_subscription_email UNIQUE (email, fip_id, url)
    """)
    op.execute("CREATE INDEX ix_status_subscription_host ON status_subscription (host)")
    op.execute("""
        ALTER TABLE health_webhook
            ADD COLUMN subscription_id uuid
                CONSTRAINT fk_health_webhook_subscription_id
                REFERENCES status_subscription (subscription_id) ON DELETE CASCADE,
            ADD COLUMN failing_since timestamptz,
            ADD COLUMN gave_up_at timestamptz,
            ADD COLUMN warned_at timestamptz
    """)
    op.execute(
        "CREATE UNIQUE INDEX health_webhook_of_subscription ON health_webhook (subscription_id) "
        "WHERE subscription_id IS NOT NULL"
    )
    op.execute("""
        CREATE TABLE status_challenge (
            challenge_id uuid CONSTRAINT pk_status_challenge PRIMARY KEY,
            email text NOT NULL,
            host text NOT NULL,
            at timestamptz NOT NULL
        )
    """)
    op.execute("CREATE INDEX ix_status_challenge_at ON status_challenge (at)")
