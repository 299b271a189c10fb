"""Where Alembic gets its connection: from storage/upgrade.py, always."""

from alembic import context

from mudra.storage.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=True,
)
context.run_migrations()
