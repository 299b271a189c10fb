"""Write to all who look after an entity: its admins and its backup contact."""

from collections.abc import Mapping

from msgspec import Struct

from mudra.identity.accounts.user import UserState
from mudra.identity.memberships.memberships import Memberships, Reader
from mudra.identity.ports import Notice, NoticeKind, Outbox


class NoticeService(Struct, frozen=True):
    """Puts one letter for each reader into the outbox, in the caller's transaction."""

    memberships: Memberships
    outbox: Outbox

    async def tell(self, entity_id: str, kind: NoticeKind, facts: Mapping[str, str]) -> int:
        """Write to everybody once; says to how many."""
        name = await self.memberships.entity_name(entity_id)
        readers = await self.readers(entity_id)
        for reader in readers:
            about = {"user_name": reader.name, "entity_id": entity_id, "entity_name": name}
            await self.outbox.post(Notice(reader.email, kind, {**about, **facts}))
        return len(readers)

    async def readers(self, entity_id: str) -> list[Reader]:
        """The admins who are not disabled, and the backup contact, each address once."""
        readers = [
            Reader(admin.email, admin.name)
            for admin in await self.memberships.admins(entity_id)
            if admin.state is not UserState.DISABLED
        ]
        contact = await self.memberships.contact(entity_id)
        if contact and contact not in {reader.email for reader in readers}:
            readers.append(Reader(contact, contact))
        return readers
