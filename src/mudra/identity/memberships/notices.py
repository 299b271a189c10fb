"""Emails to an entity's admins and its backup contact, also of what an operator changed (0072).

An operator's own mailbox may be that of an admin whom it adds: who was there before learns of it.
"""

import enum
from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct

from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.user import UserState
from mudra.identity.memberships.member import Recipient, recipients
from mudra.identity.memberships.membership_store import Memberships
from mudra.shared.mail.notice import Notice, NoticeKind
from mudra.shared.time_text import iso_ms
from mudra.storage.database.transaction import Transaction
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


class AdminsChange(enum.StrEnum):
    """The act of an operator on a person of a member."""

    ADDED = "added"
    REMOVED = "removed"
    REPLACED = "replaced"
    MOVED = "moved"
    """The account got another address."""
    ENABLED = "enabled"
    """The account of an admin was disabled, and is in use again."""


async def notify_of_operator(  # who learns of what
    tx: Transaction,
    entity_id: str,
    change: AdminsChange,
    person: str,
    *,
    former: str = "",
    also: Sequence[Recipient] = (),
) -> None:
    """Notify the member's admins and contact, and those in `also`; not the new admin itself.

    They are notified although disabled: an operator could have disabled them before.
    """
    admins = await Memberships(tx).admins(entity_id)
    disabled = [Recipient(a.email, a.name) for a in admins if a.state is UserState.DISABLED]
    facts = {
        "change": change.value,
        "person": person,
        "former": former,
        "changed_at": iso_ms(await People(tx).now()),
    }
    own = {AdminsChange.REMOVED: set[str](), AdminsChange.MOVED: {person, former}}
    notices = tx.service(NoticeService)
    await notices.notify(
        entity_id,
        NoticeKind.ADMINS_CHANGED,
        facts,
        [*also, *disabled],
        without=own.get(change, {person}),
    )
