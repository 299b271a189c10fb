"""Notify a member of what an operator changed about its admins (0072).

An operator's own mailbox may be that of an admin whom it adds: who was there before learns of it.
"""

import enum
from collections.abc import Sequence

from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.user import UserState
from mudra.identity.memberships.member import Recipient
from mudra.identity.memberships.membership_store import Memberships
from mudra.identity.memberships.notices import NoticeService
from mudra.shared.notice import NoticeKind
from mudra.shared.time_text import iso_ms
from mudra.storage.database.transaction import Transaction


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
