"""Emails to an entity's admins and its backup contact."""

from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct

from mudra.identity.memberships.member import Recipient, recipients
from mudra.identity.memberships.membership_store import Memberships
from mudra.shared.notice import Notice, NoticeKind
from mudra.storage.mail.outbox import Outbox


class NoticeService(Struct, frozen=True):
    """Puts one email for each recipient into the outbox, in the caller's transaction."""

    memberships: Memberships
    outbox: Outbox

    async def notify(
        self,
        entity_id: str,
        kind: NoticeKind,
        facts: Mapping[str, str],
        also: Sequence[Recipient] = (),
        without: Collection[str] = (),
    ) -> int:
        """Send an email to each recipient and those in `also`; returns to how many.

        None goes to the addresses in `without`.
        """
        name = await self.memberships.entity_name(entity_id)
        admins = await self.memberships.admins(entity_id)
        to = recipients(admins, (await self.memberships.contact(entity_id)).email)
        to += [one for one in also if one.email not in {other.email for other in to}]
        to = [one for one in to if one.email not in without]
        for one in to:
            about = {"user_name": one.name, "entity_id": entity_id, "entity_name": name}
            await self.outbox.post(Notice(one.email, kind, {**about, **facts}))
        return len(to)
