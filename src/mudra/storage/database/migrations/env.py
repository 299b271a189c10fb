"""The connection of Alembic: from storage/database/schema/upgrade.py, always."""

from alembic import context

from mudra.storage.tables.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=True,
    version_table="schema_version",
)
context.run_migrations()
