"""Where Alembic gets its connection: from storage/migrate.py, always."""

from alembic import context

from mudra.storage.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=True,
)
context.run_migrations()
