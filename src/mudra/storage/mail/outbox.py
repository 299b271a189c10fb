"""The outbox in PostgreSQL: emails, encrypted before and after they are sent.

An email may hold a one-use link, so a dump of the database must not show it.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final

import sqlalchemy as sa

from mudra.identity.ports import Notice
from mudra.overview.mail_queue import StoredEmail
from mudra.shared.email_message import Email, email_from_bytes, email_to_bytes
from mudra.shared.ids import fresh_id
from mudra.storage.crypto.data_encryption import DataEncryption
from mudra.storage.database.database import Transaction
from mudra.storage.database.tables import mail_outbox, user_account

OUTBOX_CHANGED: Final = "outbox"
_TAKEN_FOR: Final = timedelta(minutes=2)
"""An email that was taken and not settled by then is taken again: its sender died.

By the database's own clock: the sandbox's can be moved while an email is on its way.
"""


class PostgresOutbox:
    """Emails that wait, and those that were sent."""

    def __init__(
        self,
        transaction: Transaction,
        encryption: DataEncryption,
        compose: Callable[[Notice, str], Email],
        *,
        keep_here: bool,
    ) -> None:
        """Without a mail server (`keep_here`) an email is sent once it is in the mailbox."""
        self._tx = transaction
        self._encryption = encryption
        self._compose = compose
        self._keep_here = keep_here

    async def post(self, notice: Notice) -> None:
        """Add an email in its reader's language; it is sent at least once after the commit."""
        email = self._compose(notice, notice.language or await self._language_of(notice.to))
        mail_id = fresh_id()
        now = await self._tx.now()
        await self._tx.connection.execute(
            sa.insert(mail_outbox).values(
                mail_id=mail_id,
                recipient=email.to,
                subject=email.subject,
                sealed_email=self._encryption.keyring.encrypt(
                    email_to_bytes(email), table="mail_outbox", column="email", row=mail_id
                ),
                created_at=now,
                sent_at=now if self._keep_here else None,
                next_attempt_at=None if self._keep_here else now,
            )
        )
        await self._tx.changing(OUTBOX_CHANGED)

    async def _language_of(self, address: str) -> str:
        chosen = sa.select(user_account.c.language).where(user_account.c.email == address)
        return await self._tx.connection.scalar(chosen) or ""

    async def mails(self, to: str | None = None, limit: int = 1000) -> Sequence[StoredEmail]:
        """List emails, the oldest first, at most the latest `limit`."""
        query = sa.select(mail_outbox).order_by(mail_outbox.c.created_at.desc()).limit(limit)
        if to is not None:
            query = query.where(mail_outbox.c.recipient == to)
        rows = (await self._tx.connection.execute(query)).mappings().all()
        return [self._mail(dict(row)) for row in reversed(rows)]

    async def mail(self, mail_id: str) -> StoredEmail | None:
        """Find one email."""
        found = await self._tx.connection.execute(
            sa.select(mail_outbox).where(sa.cast(mail_outbox.c.mail_id, sa.Text) == mail_id)
        )
        row = found.mappings().first()
        return self._mail(dict(row)) if row else None

    async def take_due(self, limit: int) -> Sequence[StoredEmail]:
        """Take emails whose time has come, so that no other sender takes them."""
        now = await self._tx.now()
        c = mail_outbox.c
        rows = (
            (
                await self._tx.connection.execute(
                    sa.select(mail_outbox)
                    .where(
                        c.sent_at.is_(None),
                        c.next_attempt_at <= now,
                        sa.or_(c.taken_until.is_(None), c.taken_until <= sa.func.clock_timestamp()),
                    )
                    .order_by(c.next_attempt_at)
                    .limit(limit)
                    .with_for_update(skip_locked=True)
                )
            )
            .mappings()
            .all()
        )
        if rows:
            await self._tx.connection.execute(
                sa.update(mail_outbox)
                .where(c.mail_id.in_([row["mail_id"] for row in rows]))
                .values(taken_until=sa.func.clock_timestamp() + _TAKEN_FOR, attempts=c.attempts + 1)
            )
        return [self._mail(dict(row)) for row in rows]

    async def still_taken(self, mail: StoredEmail) -> bool:
        """Extend the claim; returns False when another node took the email, or it is gone."""
        claims = await self._tx.connection.execute(
            sa.update(mail_outbox)
            .where(_claimed(mail))
            .values(taken_until=sa.func.clock_timestamp() + _TAKEN_FOR)
        )
        return claims.rowcount == 1

    async def sent(self, mail_id: str) -> None:
        """Record that an email was delivered."""
        await self._tx.connection.execute(
            sa.update(mail_outbox)
            .where(mail_outbox.c.mail_id == mail_id)
            .values(
                sent_at=await self._tx.now(),
                next_attempt_at=None,
                last_error=None,
                taken_until=None,
            )
        )

    async def failed(self, mail: StoredEmail, error: str, again_in: timedelta | None) -> None:
        """Record a failure, and when to try again (None: never)."""
        again_at = await self._tx.now() + again_in if again_in is not None else None
        await self._tx.connection.execute(
            sa.update(mail_outbox)
            .where(_claimed(mail))
            .values(last_error=error[:500], next_attempt_at=again_at, taken_until=None)
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


def _claimed(mail: StoredEmail) -> sa.ColumnElement[bool]:
    """Matches the email unless another node has taken it since."""
    c = mail_outbox.c
    return sa.and_(c.mail_id == mail.mail_id, c.sent_at.is_(None), c.attempts == mail.attempts + 1)
