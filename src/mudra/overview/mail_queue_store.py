"""The outbox as operators see it: lists, retry, and the alarm after a day."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

import sqlalchemy as sa
from msgspec import Struct

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.shared.mail.email_message import is_kept_here
from mudra.shared.refusal import Refusal, RefusalKind
from mudra.storage.database.among import is_among
from mudra.storage.database.transaction import Transaction
from mudra.storage.mail.outbox import OUTBOX_CHANGED
from mudra.storage.tables.identity import mail_alarm
from mudra.storage.tables.service import mail_outbox


class NoSuchMail(Refusal, frozen=True):
    """No unsent email has this ID."""

    kind = RefusalKind.NOT_FOUND
    sentence = "no unsent mail of this ID"


class MailAlarms(Struct, frozen=True):
    """Faults of the outbox.

    `new` are emails that have failed since the last call, `failing` how many fail now: those that
    have waited for over a day, and those of the last two days that the mail server refused for
    good. `oldest_s` is the age in seconds of the oldest email that waits, 0 for none.
    """

    new: Sequence[str]
    failing: int
    oldest_s: float


class QueuedMail(Struct, frozen=True):
    """An email as the queue shows it: never its text, which may hold a one-use link.

    `given_up` when the mail server refused it for good: only a manual retry sends it.
    """

    mail_id: str
    recipient: str
    subject: str
    created_at: datetime
    sent_at: datetime | None
    attempts: int
    last_error: str
    next_attempt_at: datetime | None

    @property
    def given_up(self) -> bool:
        """Return whether no further automatic attempt will be made."""
        return self.sent_at is None and self.next_attempt_at is None

    @property
    def is_kept_here(self) -> bool:
        """Report whether it is in the mailbox of the service alone."""
        return is_kept_here(self.sent_at, self.attempts)

    @property
    def state(self) -> str:
        """`sent`, `given-up` or `waiting`."""
        return "sent" if self.sent_at else "given-up" if self.given_up else "waiting"


ALARM_AFTER: Final = timedelta(days=1)
"""The age from which an email that still waits is failing."""
REFUSED_FOR: Final = timedelta(days=2)
"""The age up to which a refused email counts as failing: it is listed for as long as it is kept."""
_COLUMNS: Final = (
    mail_outbox.c.mail_id,
    mail_outbox.c.recipient,
    mail_outbox.c.subject,
    mail_outbox.c.created_at,
    mail_outbox.c.sent_at,
    mail_outbox.c.attempts,
    sa.func.coalesce(mail_outbox.c.last_error, ""),
    mail_outbox.c.next_attempt_at,
)


class MailQueue:
    """The outbox as an operator sees it."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def queue(
        self, *, failed: bool, to: str = "", after: str = "", limit: int = 100
    ) -> Sequence[QueuedMail]:
        """List emails, the newest first, that come after the one with the ID `after`.

        `to` selects those to one address; `failed` those that the mail server refused for good
        or that have waited for more than a day.
        """
        c, query = mail_outbox.c, sa.select(*_COLUMNS)
        if failed:
            query = query.where(self._failed(await self._tx.now()))
        if to:
            query = query.where(c.recipient == to)
        if after:
            edge = (
                sa.select(c.created_at, c.mail_id)
                .where(c.mail_id == sa.cast(after, sa.UUID))
                .subquery()
            )
            query = query.where(
                sa.tuple_(c.created_at, c.mail_id)
                < sa.select(edge.c.created_at, edge.c.mail_id).scalar_subquery()
            )
        rows = await self._tx.connection.execute(
            query.order_by(c.created_at.desc(), c.mail_id.desc()).limit(limit)
        )
        return [QueuedMail(*row) for row in rows]

    async def to(self, recipients: Sequence[str], limit: int) -> Sequence[QueuedMail]:
        """List emails to these addresses, the newest first."""
        c = mail_outbox.c
        rows = await self._tx.connection.execute(
            sa.select(*_COLUMNS)
            .where(c.recipient.in_(recipients))
            .order_by(c.created_at.desc(), c.mail_id.desc())
            .limit(limit)
        )
        return [QueuedMail(*row) for row in rows]

    async def retry(self, mail_id: str) -> str | NoSuchMail:
        """Schedule an unsent email for another attempt now."""
        c = mail_outbox.c
        done = await self._tx.connection.execute(
            sa.update(mail_outbox)
            .where(sa.cast(c.mail_id, sa.Text) == mail_id, c.sent_at.is_(None))
            .values(next_attempt_at=await self._tx.now())
        )
        if done.rowcount != 1:
            return NoSuchMail()
        await self._tx.changing(OUTBOX_CHANGED)
        return mail_id

    async def raise_alarms(self) -> MailAlarms:
        """Return what is wrong with the outbox, and note which emails that names.

        An email that the mail server refused for good counts for two days after it was written:
        one wrong address would otherwise hide every later failure.
        """
        now = await self._tx.now()
        c = mail_outbox.c
        since = await self._tx.connection.scalar(
            sa.select(sa.func.min(c.created_at)).where(
                c.sent_at.is_(None), c.next_attempt_at.is_not(None)
            )
        )
        oldest_s = (now - since).total_seconds() if since else 0.0
        rows = await self._tx.connection.execute(
            sa.select(c.mail_id, self._fails_now(now)).where(self._failed(now))
        )
        failed: dict[str, bool] = {row[0]: row[1] for row in rows}
        if not failed:
            return MailAlarms((), 0, oldest_s)
        known = set(
            (
                await self._tx.connection.scalars(
                    sa.select(mail_alarm.c.mail_id).where(is_among(mail_alarm.c.mail_id, failed))
                )
            ).all()
        )
        new = [mail_id for mail_id in failed if mail_id not in known]
        if new:
            await self._tx.connection.execute(
                sa.insert(mail_alarm), [{"mail_id": mail_id, "at": now} for mail_id in new]
            )
        return MailAlarms(new, sum(failed.values()), oldest_s)

    @staticmethod
    def _failed(now: datetime) -> sa.ColumnElement[bool]:
        c = mail_outbox.c
        return sa.and_(
            c.sent_at.is_(None),
            sa.or_(c.next_attempt_at.is_(None), c.created_at < now - ALARM_AFTER),
        )

    @staticmethod
    def _fails_now(now: datetime) -> sa.ColumnElement[bool]:
        c = mail_outbox.c
        return sa.or_(c.next_attempt_at.is_not(None), c.created_at >= now - REFUSED_FOR)


async def retry_mail(tx: Transaction, mail_id: str, caller: Caller) -> str | NoSuchMail:
    """Try an unsent email again now, and record who asked for it; returns its ID."""
    outcome = await MailQueue(tx).retry(mail_id)
    if isinstance(outcome, str):
        await AuditLog(tx).append(
            AuditEntry(EventName.MAIL_LETTER_RETRY, caller, detail={"mail": mail_id})
        )
    return outcome
