"""Announcements in PostgreSQL."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

import msgspec
import sqlalchemy as sa
from msgspec import Struct

from mudra.metrics.announcements.announcement import Announcement, Kind, Translation, Update
from mudra.metrics.subscriptions.subscription_store import SUBSCRIPTION_ASKED
from mudra.storage.database.among import is_among_given
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.announcements import status_announcement

_A: Final = status_announcement.c
_UNENDED_AT: Final = sa.or_(_A.over_at.is_(None), _A.over_at > sa.bindparam("moment"))
_LATEST: Final = (
    sa.select(status_announcement)
    .where(_UNENDED_AT)
    .order_by(_A.publish_at.desc(), _A.announcement_id)
    .limit(sa.bindparam("limit", type_=sa.Integer))
)
_UNSENT: Final = (
    sa.select(status_announcement)
    .where(
        *(sa.not_(_A.done), _A.publish_at <= sa.bindparam("now")),
        sa.not_(is_among_given(_A.announcement_id, "but")),
    )
    .order_by(_A.publish_at, _A.announcement_id)
    .limit(1)
    .with_for_update(skip_locked=True)
)


class Sending(Struct, frozen=True):
    """An announcement whose subscribers were not all written to; `after` is the last who was."""

    announcement: Announcement
    after: str


class Announcements:
    """One row for each announcement."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def make_alone(self) -> None:
        """Let no other transaction make one until this one ends."""
        await self._tx.lock_name("announcements")

    async def add(self, announcement: Announcement) -> None:
        """Store a new one, to be sent once it is published."""
        await self._tx.connection.execute(
            sa.insert(status_announcement).values(_values(announcement))
        )
        await self._tx.changing(SUBSCRIPTION_ASKED)

    async def put(self, announcement: Announcement) -> None:
        """Store what was changed of one; whom it was sent to stays."""
        await self._tx.connection.execute(
            sa.update(status_announcement)
            .where(_A.announcement_id == announcement.announcement_id)
            .values(_values(announcement))
        )
        await self._tx.changing(SUBSCRIPTION_ASKED)

    async def send_again(self, announcement_id: str) -> None:
        """Send it to all subscribers from the first: it says something new."""
        await self._tx.connection.execute(
            sa.update(status_announcement)
            .where(_A.announcement_id == announcement_id)
            .values(after=None, done=False)
        )

    async def unended(self, announcement_id: str, now: datetime) -> Announcement | None:
        """Return one that is shown or scheduled, and hold its lock for this transaction."""
        found = await self._tx.connection.execute(
            sa.select(status_announcement)
            .where(_A.announcement_id == announcement_id, _UNENDED_AT)
            .with_for_update(),
            {"moment": now},
        )
        row = found.mappings().first()
        return None if row is None else _read(row)

    async def latest(self, since: datetime, limit: int) -> Sequence[Announcement]:
        """Return those that are not over, or were not at a moment, the last published first."""
        rows = await self._tx.connection.execute(_LATEST, {"moment": since, "limit": limit})
        return [_read(row) for row in rows.mappings()]

    async def made_since(self, since: datetime) -> int:
        """Return how many were made since a moment."""
        query = sa.select(sa.func.count()).select_from(status_announcement)
        return int(await self._tx.connection.scalar(query.where(_A.made_at > since)) or 0)

    async def take_unsent(self, now: datetime, but: Collection[str]) -> Sending | None:
        """Take one that is published and not sent to all, so that no other process takes it.

        It is none of `but`, by their IDs.
        """
        found = await self._tx.connection.execute(_UNSENT, {"now": now, "but": list(but)})
        row = found.mappings().first()
        return None if row is None else Sending(_read(row), row["after"] or "")

    async def sent(self, announcement_id: str, after: str, *, done: bool) -> None:
        """Record the last subscription that was written to."""
        await self._tx.connection.execute(
            sa.update(status_announcement)
            .where(_A.announcement_id == announcement_id)
            .values(after=after or None, done=done)
        )


def _values(one: Announcement) -> dict[str, object]:
    return {
        "announcement_id": one.announcement_id,
        "kind": one.kind.value,
        "title": one.title,
        "text": one.text,
        "translations": msgspec.to_builtins(one.translations),
        "fip_ids": list(one.fip_ids),
        "publish_at": one.publish_at,
        "begins": one.begins,
        "ends": one.ends,
        "made_by": one.made_by,
        "made_at": one.made_at,
        "changed_at": one.changed_at,
        "ended_at": one.ended_at,
        "over_at": one.over_at,
        "incident_id": one.incident_id or None,
        "updates": msgspec.to_builtins(one.updates),
    }


def _read(row: sa.RowMapping) -> Announcement:
    return Announcement(
        row["announcement_id"],
        Kind(row["kind"]),
        row["title"],
        row["text"],
        msgspec.convert(row["translations"], tuple[Translation, ...]),
        tuple(row["fip_ids"]),
        row["publish_at"],
        row["begins"],
        row["ends"],
        row["made_by"],
        row["made_at"],
        row["changed_at"],
        row["ended_at"],
        row["incident_id"] or "",
        msgspec.convert(row["updates"], tuple[Update, ...]),
    )
