"""An operator's exemption from the network's binding stays while the member binds itself."""

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE entity ADD COLUMN address_exempt boolean NOT NULL DEFAULT false")
    op.execute("UPDATE entity SET address_exempt = true WHERE address_binding = 'watch'")
