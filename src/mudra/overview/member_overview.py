"""One member as operators see it: admins, secret, entry, tokens, emails."""

from collections.abc import Sequence
from datetime import date
from typing import Final

from msgspec import Struct

from mudra.identity.memberships.member_search import MemberFilter, MemberRow, UserFilter, UserRow
from mudra.overview.mail_queue import QueuedMail
from mudra.overview.ports import MemberReads
from mudra.registry.lifecycle.record import Record
from mudra.tokens.ports import DayCount, SecretHolding
from mudra.tokens.secrets.old_secret_use import SecretUse

_MAX_ADMINS: Final = 1000
_MAX_MAILS: Final = 100


class MemberOverview(Struct, frozen=True):
    """All facts about a member; `holding` and `use` only while it has a secret."""

    admins: Sequence[UserRow]
    mails: Sequence[QueuedMail]
    tokens: Sequence[DayCount]
    holding: SecretHolding | None
    use: SecretUse | None
    record: Record | None


async def find_member(work: MemberReads, entity_id: str) -> MemberRow | None:
    """Find a member by its ID."""
    found = await work.member_search.members(MemberFilter(entity_id=entity_id), "", 1)
    return found[0] if found else None


async def member_overview(work: MemberReads, member: MemberRow, since: date) -> MemberOverview:
    """Gather what there is about a member, its tokens by day from `since` on."""
    entity_id = member.entity_id
    admins = await work.member_search.users(UserFilter(entity_id=entity_id), "", _MAX_ADMINS)
    addresses = [*(admin.email for admin in admins), *([member.contact] if member.contact else [])]
    holding = await work.secrets.held(entity_id)
    return MemberOverview(
        admins=admins,
        mails=await work.mail_queue.to(addresses, _MAX_MAILS),
        tokens=await work.token_counts.by_day(entity_id, since),
        holding=holding,
        use=await work.uses.of(entity_id, holding.current.version) if holding else None,
        record=await work.registry.record(entity_id),
    )
