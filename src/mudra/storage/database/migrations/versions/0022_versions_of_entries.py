"""Finds what decides about an entry of the registry, however many versions entries have (0205)."""

from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None
works_with = "0012"

_WHAT = {
    "registry_version_content": "(entity_id, sha256(body), number)",
    "registry_version_kid_held": (
        "(kid, entity_id) WHERE live_from IS NOT NULL OR status = 'approved'"
    ),
    "registry_version_modulus_held": (
        "(modulus_hash, entity_id) WHERE live_from IS NOT NULL OR status = 'approved'"
    ),
    "registry_version_handle_held": (
        "(lower(entityhandle)) WHERE entityhandle > '' AND (status = 'live' OR status = 'approved')"
    ),
    "registry_version_handle_seen": (
        "(lower(entityhandle), live_from) WHERE entityhandle > '' AND live_from IS NOT NULL"
    ),
}
# Built before, without holding up what is written; see storage/database/concurrent_index.py.
indexes = {
    name: f"CREATE INDEX CONCURRENTLY {name} ON registry_version {what}"
    for name, what in _WHAT.items()
}


def upgrade() -> None:
    for name, what in _WHAT.items():
        op.execute(f"CREATE INDEX IF NOT EXISTS {name} ON registry_version {what}")
