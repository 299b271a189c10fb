"""One member as operators see it: admins, secret, entry, tokens, emails."""

from collections.abc import Sequence
from datetime import date
from typing import Final

from msgspec import Struct

from mudra.identity.memberships.invitation import Invitation
from mudra.identity.memberships.invitation_store import Invitations
from mudra.identity.memberships.member_search import MemberFilter, MemberRow, UserFilter, UserRow
from mudra.identity.memberships.member_search_store import MemberSearch
from mudra.overview.mail_queue_store import MailQueue, QueuedMail
from mudra.registry.lifecycle.record import Record
from mudra.registry.ports import Registry
from mudra.storage.database.transaction import Transaction
from mudra.tokens.issuing.token_count_store import DayCount, TokenCounts
from mudra.tokens.secrets.old_secret_use import SecretUse
from mudra.tokens.secrets.secret_store import SecretHolding, Secrets
from mudra.tokens.secrets.secret_use_store import SecretUses

_MAX_ADMINS: Final = 1000
_MAX_MAILS: Final = 100


class MemberOverview(Struct, frozen=True):
    """All facts about a member; `holding` and `use` only while it has a secret."""

    admins: Sequence[UserRow]
    invitations: Sequence[Invitation]
    """Sent by its admins, and not accepted yet."""
    mails: Sequence[QueuedMail]
    tokens: Sequence[DayCount]
    holding: SecretHolding | None
    use: SecretUse | None
    record: Record | None


async def find_member(tx: Transaction, entity_id: str) -> MemberRow | None:
    """Find a member by its ID."""
    found = await MemberSearch(tx).members(MemberFilter(entity_id=entity_id), "", 1)
    return found[0] if found else None


async def member_overview(tx: Transaction, member: MemberRow, since: date) -> MemberOverview:
    """Gather what there is about a member, its tokens by day from `since` on."""
    entity_id = member.entity_id
    admins = await MemberSearch(tx).users(UserFilter(entity_id=entity_id), "", _MAX_ADMINS)
    addresses = [*(admin.email for admin in admins), *([member.contact] if member.contact else [])]
    holding = await Secrets(tx).held(entity_id)
    return MemberOverview(
        admins=admins,
        invitations=await Invitations(tx).pending(entity_id),
        mails=await MailQueue(tx).to(addresses, _MAX_MAILS),
        tokens=await TokenCounts(tx).by_day(entity_id, since),
        holding=holding,
        use=await SecretUses(tx).of(entity_id, holding.current.version) if holding else None,
        record=await tx.service(Registry).record(entity_id),
    )
