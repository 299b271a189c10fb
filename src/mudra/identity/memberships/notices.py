"""Emails to an entity's admins and its backup contact."""

from collections.abc import Mapping

from msgspec import Struct

from mudra.identity.memberships.member import Recipient, recipients
from mudra.identity.ports import Memberships, Notice, NoticeKind, Outbox


class NoticeService(Struct, frozen=True):
    """Puts one email for each recipient into the outbox, in the caller's transaction."""

    memberships: Memberships
    outbox: Outbox

    async def tell(self, entity_id: str, kind: NoticeKind, facts: Mapping[str, str]) -> int:
        """Send an email to each recipient once; returns to how many."""
        name = await self.memberships.entity_name(entity_id)
        readers = await self.readers(entity_id)
        for reader in readers:
            about = {"user_name": reader.name, "entity_id": entity_id, "entity_name": name}
            await self.outbox.post(Notice(reader.email, kind, {**about, **facts}))
        return len(readers)

    async def readers(self, entity_id: str) -> list[Recipient]:
        """Return the admins who are not disabled, and the backup contact, each address once."""
        admins = await self.memberships.admins(entity_id)
        return recipients(admins, await self.memberships.contact(entity_id))
