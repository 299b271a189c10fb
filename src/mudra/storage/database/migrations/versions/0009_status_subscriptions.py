"""Subscriptions to the public status by email, and what was announced to them."""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        CREATE TABLE status_subscription (
            subscription_id uuid CONSTRAINT pk_status_subscription PRIMARY KEY,
            email text NOT NULL,
            fip_id text NOT NULL,
            language text NOT NULL,
            token_hash bytea NOT NULL CONSTRAINT uq_status_subscription_token_hash UNIQUE,
            sealed_token bytea NOT NULL,
            waits boolean NOT NULL,
            confirmations integer NOT NULL DEFAULT 0,
            asked_at timestamptz NOT NULL,
            mailed_at timestamptz,
            confirmed_at timestamptz,
            CONSTRAINT uq_status_subscription_email UNIQUE (email, fip_id)
        )
    """)
    op.execute("CREATE INDEX ix_status_subscription_asked ON status_subscription (asked_at)")
    op.execute(
        "CREATE INDEX ix_status_subscription_fip ON status_subscription (fip_id, subscription_id)"
    )
    op.execute("""
        CREATE TABLE status_news (
            incident_id uuid CONSTRAINT pk_status_news PRIMARY KEY,
            fip_id text NOT NULL,
            codes text NOT NULL,
            state text NOT NULL CONSTRAINT ck_status_news_state CHECK (state IN ('open', 'over')),
            began timestamptz NOT NULL,
            ended timestamptz,
            at timestamptz NOT NULL,
            after uuid,
            done boolean NOT NULL
        )
    """)
