"""The outbox in PostgreSQL: emails, encrypted before and after they are sent.

An email may hold a one-use link, which sets a password for anyone who opens it first: so a dump of
the database must not show it. It is composed when it is posted, in the transaction of the change,
and encrypted with the key ring, bound to table, column and row. Recipient, subject and state of
delivery are readable, for the queue and for searching: a subject never holds a link. A link that is
made when the email is sent would be another one at each try.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Final

import sqlalchemy as sa

from mudra.shared.ids import fresh_id
from mudra.shared.mail.email_message import Email, StoredEmail, email_from_bytes, email_to_bytes
from mudra.shared.mail.notice import Notice
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.identity import user_account
from mudra.storage.tables.service import mail_outbox

OUTBOX_CHANGED: Final = "outbox"
_TAKEN_FOR: Final = timedelta(minutes=2)
"""An email that was taken and not settled by then is taken again: its sender died.

By the database's own clock: the sandbox's can be moved while an email is on its way.
"""
_C: Final = mail_outbox.c
_ADD: Final = sa.insert(mail_outbox)
_READER: Final = sa.select(user_account.c.language, user_account.c.display_zone).where(
    user_account.c.email == sa.bindparam("email")
)
_MAIL: Final = sa.select(mail_outbox).where(
    sa.cast(_C.mail_id, sa.Text) == sa.bindparam("mail_id", type_=sa.Text)
)
_DUE: Final = (
    sa.select(mail_outbox)
    .where(
        _C.sent_at.is_(None),
        _C.next_attempt_at <= sa.bindparam("now"),
        sa.or_(_C.taken_until.is_(None), _C.taken_until <= sa.func.clock_timestamp()),
    )
    .order_by(_C.next_attempt_at)
    .limit(sa.bindparam("most", type_=sa.Integer))
    .with_for_update(skip_locked=True)
)
_TAKE: Final = (
    sa.update(mail_outbox)
    .where(_C.mail_id.in_(sa.bindparam("mails", expanding=True)))
    .values(taken_until=sa.func.clock_timestamp() + _TAKEN_FOR, attempts=_C.attempts + 1)
)
_CLAIMED: Final = sa.update(mail_outbox).where(
    _C.mail_id == sa.bindparam("mail"),
    _C.sent_at.is_(None),
    _C.attempts == sa.bindparam("taken_as"),
)
"""Matches the email unless another node has taken it since."""
_STILL_TAKEN: Final = _CLAIMED.values(taken_until=sa.func.clock_timestamp() + _TAKEN_FOR)
_FAILED: Final = _CLAIMED.values(
    last_error=sa.bindparam("error"), next_attempt_at=sa.bindparam("again_at"), taken_until=None
)
_SENT: Final = (
    sa.update(mail_outbox)
    .where(_C.mail_id == sa.bindparam("mail"), _C.sent_at.is_(None))
    .values(sent_at=sa.bindparam("now"), next_attempt_at=None, last_error=None, taken_until=None)
)


class Outbox:
    """Emails that wait, and those that were sent."""

    def __init__(
        self,
        transaction: Transaction,
        compose: Callable[[Notice, str, str], Email],
        *,
        keep_here: bool,
    ) -> None:
        """Without a mail server (`keep_here`) an email is sent once it is in the mailbox."""
        self._tx = transaction
        self._encryption = transaction.encryption
        self._compose = compose
        self._keep_here = keep_here

    async def post(self, notice: Notice) -> None:
        """Add an email in its reader's language and time zone; it is sent once or more later."""
        language, zone = await self._reader(notice.to)
        email = self._compose(notice, notice.language or language, zone)
        mail_id = fresh_id()
        now = await self._tx.now()
        await self._tx.connection.execute(
            _ADD,
            {
                "mail_id": mail_id,
                "recipient": email.to,
                "subject": email.subject,
                "sealed_email": self._encryption.keyring.encrypt(
                    email_to_bytes(email), table="mail_outbox", column="email", row=mail_id
                ),
                "created_at": now,
                "sent_at": now if self._keep_here else None,
                "next_attempt_at": None if self._keep_here else now,
            },
        )
        await self._tx.changing(OUTBOX_CHANGED)

    async def _reader(self, address: str) -> tuple[str, str]:
        """Return the language and the zone that an account has chosen; empty without one."""
        found = await self._tx.connection.execute(_READER, {"email": address})
        row = found.first()
        return ("", "") if row is None else (row.language, row.display_zone)

    async def mails(self, to: str | None = None, limit: int = 1000) -> Sequence[StoredEmail]:
        """List emails, the oldest first, at most the latest `limit`."""
        found = await self._tx.connection.execute(
            _latest(of_one=to is not None), {"most": limit} | ({} if to is None else {"to": to})
        )
        rows = found.mappings().all()
        return [self._mail(dict(row)) for row in reversed(rows)]

    async def mail(self, mail_id: str) -> StoredEmail | None:
        """Find one email."""
        found = await self._tx.connection.execute(_MAIL, {"mail_id": mail_id})
        row = found.mappings().first()
        return self._mail(dict(row)) if row else None

    async def take_due(self, limit: int) -> Sequence[StoredEmail]:
        """Take emails whose time has come, so that no other sender takes them."""
        now = await self._tx.now()
        found = await self._tx.connection.execute(_DUE, {"now": now, "most": limit})
        rows = found.mappings().all()
        if rows:
            await self._tx.connection.execute(_TAKE, {"mails": [row["mail_id"] for row in rows]})
        return [self._mail(dict(row)) for row in rows]

    async def still_taken(self, mail: StoredEmail) -> bool:
        """Extend the claim; returns False when another node took the email, or it is gone."""
        claims = await self._tx.connection.execute(
            _STILL_TAKEN, {"mail": mail.mail_id, "taken_as": mail.attempts + 1}
        )
        return claims.rowcount == 1

    async def sent(self, mail_id: str) -> bool:
        """Record that an email was delivered; returns False when that was recorded before."""
        recorded = await self._tx.connection.execute(
            _SENT, {"mail": mail_id, "now": await self._tx.now()}
        )
        return recorded.rowcount == 1

    async def failed(self, mail: StoredEmail, error: str, again_in: timedelta | None) -> None:
        """Record a failure, and when to try again (None: never)."""
        again_at = await self._tx.now() + again_in if again_in is not None else None
        await self._tx.connection.execute(
            _FAILED,
            {
                "mail": mail.mail_id,
                "taken_as": mail.attempts + 1,
                "error": error[:500],
                "again_at": again_at,
            },
        )

    def _mail(self, row: dict[str, object]) -> StoredEmail:
        mail_id, sealed = row["mail_id"], row["sealed_email"]
        created_at, sent_at = row["created_at"], row["sent_at"]
        attempts, last_error = row["attempts"], row["last_error"]
        assert isinstance(mail_id, str)
        assert isinstance(sealed, bytes)
        assert isinstance(created_at, datetime)
        assert sent_at is None or isinstance(sent_at, datetime)
        assert isinstance(attempts, int)
        assert last_error is None or isinstance(last_error, str)
        opened = self._encryption.keyring.decrypt(
            sealed, table="mail_outbox", column="email", row=mail_id
        )
        return StoredEmail(
            mail_id, email_from_bytes(opened), created_at, sent_at, attempts, last_error
        )


@cache
def _latest(*, of_one: bool) -> sa.Select[*tuple[object, ...]]:
    """Select the latest emails, those to one address or all."""
    query = sa.select(mail_outbox).order_by(_C.created_at.desc())
    if of_one:
        query = query.where(_C.recipient == sa.bindparam("to"))
    return query.limit(sa.bindparam("most", type_=sa.Integer))
