"""Which email brings a link: it depends on the account."""

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from mudra.audit.event import AuditEntry, Caller
from mudra.identity.accounts.email_link import LinkFactory, LinkRecord
from mudra.identity.accounts.send_link import send_link
from mudra.identity.accounts.user import User, UserState
from mudra.shared.notice import Notice, NoticeKind
from mudra.shared.secret_text import SecretText

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ADMIN = User("u-1", "asha@bank.example", "Asha", UserState.INVITED, None, ("BANK-FIP",), ("Bank",))
OPERATOR = replace(ADMIN, administers=(), entity_names=())
ACTIVE = replace(ADMIN, state=UserState.ACTIVE, password_hash="hash")  # no password


@dataclass
class InMemory:
    """What sending a link needs of a unit of work."""

    link_factory: LinkFactory = field(
        default_factory=lambda: LinkFactory(bytes, "https://mudra.example/iam/activate")
    )
    sent: list[Notice] = field(default_factory=list)
    stored: list[LinkRecord] = field(default_factory=list)
    audited: list[AuditEntry] = field(default_factory=list)

    @property
    def people(self):
        return self

    links = outbox = audit_log = people

    async def now(self) -> datetime:
        return NOW

    async def add(self, link: LinkRecord) -> None:
        self.stored.append(link)

    async def post(self, notice: Notice) -> None:
        self.sent.append(notice)

    async def append(self, entry: AuditEntry) -> None:
        self.audited.append(entry)


@pytest.mark.parametrize(
    ("user", "kind"),
    [
        (ADMIN, NoticeKind.INVITATION),
        (OPERATOR, NoticeKind.ACCOUNT_INVITATION),
        (ACTIVE, NoticeKind.PASSWORD_RESET),
    ],
    ids=["admin", "operator", "active"],
)
def test_the_email_fits_the_account(user: User, kind: NoticeKind):
    work = InMemory()

    asyncio.run(send_link(work, user, Caller("operator:staff")))  # type: ignore[arg-type]

    (notice,) = work.sent
    assert notice.kind is kind
    assert ("entity_name" in notice.facts) is (user is ADMIN)
    link = notice.facts["link"]
    assert isinstance(link, SecretText)
    assert link.reveal().startswith("https://mudra.example/iam/activate/")
    assert len(work.stored) == len(work.audited) == 1
