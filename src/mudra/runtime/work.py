"""One unit of work: a transaction, seen through the ports of every area.

Edges and jobs open one per use case; wiring.py says what stands behind it.
"""

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from msgspec import Struct

from mudra.audit.ports import Journal
from mudra.identity.accounts import AccountDesk
from mudra.identity.invite import LinkDesk
from mudra.identity.look_after import AdminDesk
from mudra.identity.member_status import MemberDesk
from mudra.identity.notice_desk import NoticeDesk
from mudra.identity.ports import Attempts, Links, Outbox, People
from mudra.identity.roster import Roster
from mudra.identity.session import Sessions
from mudra.metrics.alarm_desk import AlarmDesk
from mudra.metrics.ports import Figures, Incidents, Receipts, Series
from mudra.metrics.ports import Members as NetworkMembers
from mudra.metrics.receive import ReceiveDesk
from mudra.registry.waiting import WaitingEntries
from mudra.storage.audit_search import PostgresAuditSearch
from mudra.storage.cut import TRANSACTION_S
from mudra.storage.directory import PostgresDirectory
from mudra.storage.mail_desk import PostgresMailDesk
from mudra.tokens.key_fetch import KeyFetches
from mudra.tokens.ports import IssuedTokens, Reminders, Secrets, SecretUses, SigningKeys
from mudra.tokens.token_count import TokenCounts


class Work(Struct, frozen=True):
    """The ports of one open transaction."""

    journal: Journal
    people: People
    links: Links
    link_desk: LinkDesk
    attempts: Attempts
    outbox: Outbox
    roster: Roster
    sessions: Sessions
    notices: NoticeDesk
    admins: AdminDesk
    members: MemberDesk
    accounts: AccountDesk
    directory: PostgresDirectory
    mail_desk: PostgresMailDesk
    audit_search: PostgresAuditSearch
    secrets: Secrets
    uses: SecretUses
    reminders: Reminders
    tokens: IssuedTokens
    token_counts: TokenCounts
    keys: SigningKeys
    key_fetches: KeyFetches
    waiting_entries: WaitingEntries
    receive_desk: ReceiveDesk
    receipts: Receipts
    figures: Figures
    series: Series
    incidents: Incidents
    alarm_desk: AlarmDesk
    aas_and_fips: NetworkMembers


class OpenWork(Protocol):
    """Opens a transaction; commits at its end, rolls back on an exception."""

    def __call__(self, *, within_s: float = TRANSACTION_S) -> AbstractAsyncContextManager[Work]:
        """Open one that is cut off after so many seconds (decision 0010)."""
        ...
