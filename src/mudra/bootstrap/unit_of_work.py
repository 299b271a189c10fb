"""One unit of work: a transaction, seen through the ports of every area.

Edges and jobs open one per use case; wiring.py says what stands behind it.
"""

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from msgspec import Struct

from mudra.audit.ports import Journal
from mudra.identity.accounts.account_service import AccountDesk
from mudra.identity.accounts.link_service import LinkDesk
from mudra.identity.memberships.admins import AdminDesk
from mudra.identity.memberships.member_status import MemberDesk
from mudra.identity.memberships.memberships import Roster
from mudra.identity.memberships.notices import NoticeDesk
from mudra.identity.ports import Attempts, Links, Outbox, People
from mudra.identity.sessions.session import Sessions
from mudra.metrics.notifications.alarm_service import AlarmDesk
from mudra.metrics.payload.receive import ReceiveDesk
from mudra.metrics.ports import Figures, Incidents, Receipts, Series
from mudra.metrics.ports import Members as NetworkMembers
from mudra.registry.lifecycle.pending_entries import WaitingEntries
from mudra.storage.audit.search import PostgresAuditSearch
from mudra.storage.database.deadline import TRANSACTION_S
from mudra.storage.identity.member_search import PostgresDirectory
from mudra.storage.mail.mail_queue import PostgresMailDesk
from mudra.tokens.issuing.token_count import TokenCounts
from mudra.tokens.ports import IssuedTokens, Reminders, Secrets, SecretUses, SigningKeys
from mudra.tokens.signing_keys.key_fetch import KeyFetches


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
