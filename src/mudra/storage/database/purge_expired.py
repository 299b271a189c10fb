"""Delete what is no longer needed."""

from datetime import timedelta
from typing import Final

import sqlalchemy as sa

from mudra.identity.sessions.session import LIFE
from mudra.identity.sign_in.throttle import ADDRESS_PERIOD
from mudra.storage.database.database import Transaction
from mudra.storage.database.tables import address_failure, node, revoked_entity_token, user_token
from mudra.storage.identity.tables import console_session
from mudra.storage.registry.tables import registry_write
from mudra.storage.registry.write_budget import PERIOD

_NODE_GONE: Final = timedelta(hours=1)
_KEPT_AFTER_END: Final = timedelta(days=1)


async def purge_expired(transaction: Transaction) -> None:
    """Delete counters, tokens and nodes whose time is over."""
    now = await transaction.now()
    for statement in (
        sa.delete(address_failure).where(address_failure.c.at < now - ADDRESS_PERIOD),
        sa.delete(revoked_entity_token).where(
            revoked_entity_token.c.expires_at < now - _KEPT_AFTER_END
        ),
        sa.delete(user_token).where(user_token.c.expires_at < now - _KEPT_AFTER_END),
        sa.delete(registry_write).where(registry_write.c.at <= now - PERIOD),
        sa.delete(console_session).where(console_session.c.started_at < now - LIFE),
        sa.delete(node).where(node.c.proven_at < sa.func.clock_timestamp() - _NODE_GONE),
    ):
        await transaction.connection.execute(statement)
