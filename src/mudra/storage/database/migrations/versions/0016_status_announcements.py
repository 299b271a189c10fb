"""What operators announce on the public status, and groups of its institutions."""

from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None
works_with = "0012"


def upgrade() -> None:
    op.execute("""
        CREATE TABLE status_announcement (
            announcement_id uuid NOT NULL,
            kind text NOT NULL,
            title text NOT NULL,
            text text NOT NULL,
            translations jsonb NOT NULL DEFAULT '[]',
            fip_ids text[] NOT NULL DEFAULT '{}',
            publish_at timestamptz NOT NULL,
            begins timestamptz,
            ends timestamptz,
            made_by text NOT NULL,
            made_at timestamptz NOT NULL,
            changed_at timestamptz,
            ended_at timestamptz,
            over_at timestamptz,
            after uuid,
            done boolean NOT NULL DEFAULT false,
            CONSTRAINT pk_status_announcement PRIMARY KEY (announcement_id),
            CONSTRAINT ck_status_announcement_kind
                CHECK (kind IN ('information', 'incident', 'maintenance'))
        )
    """)
    op.execute("ALTER TABLE registry_word ADD COLUMN status_group text NOT NULL DEFAULT ''")
    op.execute("CREATE INDEX ix_status_announcement_publish_at ON status_announcement (publish_at)")
