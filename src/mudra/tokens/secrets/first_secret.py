"""Create the first secret of a new member, in the transaction of its onboarding."""

from collections.abc import Callable
from datetime import datetime

from msgspec import Struct

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.storage.database.transaction import Transaction
from mudra.tokens.secrets.secret import first_secret, new_secret_text
from mudra.tokens.secrets.secret_store import Secrets


class FirstSecretService(Struct, frozen=True):
    """Creates first secrets; implements the port of onboarding in identity."""

    tx: Transaction
    random_bytes: Callable[[int], bytes]

    async def create(self, entity_id: str, caller: Caller, now: datetime) -> None:
        """Create and store the first secret of an entity."""
        secret = first_secret(entity_id, now)
        await Secrets(self.tx).keep_first(secret, new_secret_text(self.random_bytes))
        await AuditLog(self.tx).append(
            AuditEntry(EventName.ENTITY_SECRET_CREATE, caller, entity_id, detail={"version": 1})
        )
