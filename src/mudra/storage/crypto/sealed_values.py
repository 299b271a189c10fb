"""Every encrypted value of the database, for what must reach them all: rotation and checks."""

from collections.abc import Callable, Sequence
from typing import Final, cast

import sqlalchemy as sa
from msgspec import Struct

from mudra.storage.crypto.keyring import Keyring, MasterVersionMissing
from mudra.storage.database.transaction import OpenTransaction, Transaction
from mudra.storage.tables.alarms import health_webhook
from mudra.storage.tables.disputes import dispute_evidence
from mudra.storage.tables.identity import link_request, totp_factor
from mudra.storage.tables.service import mail_outbox, sealed_key
from mudra.storage.tables.subscriptions import status_subscription
from mudra.storage.tables.tokens import entity_secret, sandbox_fault, signing_key

BATCH: Final = 100
"""Values in one transaction: some 50 ms, far from its limit of 3 s."""


class SealedColumn(Struct, frozen=True):
    """A column of encrypted values, and how the place of each is called (keyring.py)."""

    column: sa.Column[bytes]
    place: tuple[str, str]
    key: tuple[sa.Column[object], ...]
    suffix: str = ""

    def row(self, key: Sequence[object]) -> str:
        """Return the row's part of the place."""
        return "/".join(map(str, key)) + self.suffix

    def is_after(self, key: Sequence[object]) -> sa.ColumnElement[bool]:
        """Return the condition of rows behind this one."""
        values = [sa.literal(v, c.type) for c, v in zip(self.key, key, strict=True)]
        return sa.tuple_(*self.key) > sa.tuple_(*values)


class _Value(Struct, frozen=True):
    key: tuple[object, ...]
    value: bytes


def _columns() -> tuple[SealedColumn, ...]:
    def of(table: sa.Table, column: str, place: tuple[str, str], suffix: str = "") -> SealedColumn:
        key = tuple(cast("Sequence[sa.Column[object]]", table.primary_key.columns))
        return SealedColumn(table.c[column], place, key, suffix)

    return (
        of(sealed_key, "sealed", ("sealed_key", "sealed"), "/1"),
        of(signing_key, "sealed_private", ("signing_key", "sealed_private")),
        of(entity_secret, "sealed", ("entity_secret", "sealed")),
        of(health_webhook, "sealed_secret", ("health_webhook", "secret")),
        of(health_webhook, "sealed_previous", ("health_webhook", "previous")),
        of(link_request, "sealed_name", ("link_request", "sealed_name")),
        of(mail_outbox, "sealed_email", ("mail_outbox", "email")),
        of(totp_factor, "sealed_secret", ("totp_factor", "sealed_secret")),
        of(sandbox_fault, "sealed_private", ("sandbox_fault", "sealed_private")),
        of(status_subscription, "sealed_token", ("status_subscription", "sealed_token")),
        of(dispute_evidence, "sealed_content", ("dispute_evidence", "content")),
    )


COLUMNS: Final = _columns()
"""All of them: a test compares with the schema."""


KEYS: Final = COLUMNS[:2]
"""Those of a few rows, without which a node can do nothing; they are wrapped again first."""


async def master_versions(
    transaction: Transaction, columns: Sequence[SealedColumn] = COLUMNS
) -> dict[int, int]:
    """Count the values under each version of the master key."""
    found: dict[int, int] = {}
    for sealed in columns:
        head = sa.func.substring(sealed.column, 1, _HEAD_BYTES)
        rows = await transaction.connection.execute(
            sa.select(head, sa.func.count()).where(sealed.column.is_not(None)).group_by(head)
        )
        for begin, count in rows:
            version = int.from_bytes(begin[1:])
            found[version] = found.get(version, 0) + count
    return found


_HEAD_BYTES: Final = 5


async def count_values(transaction: Transaction) -> int:
    """Count all encrypted values."""
    return sum(
        [
            await transaction.connection.scalar(
                sa.select(sa.func.count()).where(sealed.column.is_not(None))
            )
            or 0
            for sealed in COLUMNS
        ]
    )


async def count_readable(
    open_transaction: OpenTransaction, keyring: Keyring, sealed: SealedColumn
) -> int:
    """Decrypt every value of a column, some at a time; returns how many.

    Raises:
        CiphertextInvalid: one is not what was encrypted there.
        MasterVersionMissing: the master key of one was not provided.
    """
    count = 0
    after: sa.ColumnElement[bool] = sa.true()
    table, column = sealed.place
    while True:
        async with open_transaction() as transaction:
            rows = await _read(transaction, sealed, after)
        for one in rows:
            keyring.decrypt(one.value, table=table, column=column, row=sealed.row(one.key))
        count += len(rows)
        if len(rows) < BATCH:
            return count
        after = sealed.is_after(rows[-1].key)


async def _read(
    transaction: Transaction, sealed: SealedColumn, after: sa.ColumnElement[bool]
) -> Sequence[_Value]:
    rows = await transaction.connection.execute(
        sa.select(*sealed.key, sealed.column)
        .where(sealed.column.is_not(None), after)
        .order_by(*sealed.key)
        .limit(BATCH)
    )
    return [_Value(tuple(row)[:-1], cast("bytes", row[-1])) for row in rows]


async def rewrap(
    open_transaction: OpenTransaction,
    keyring: Keyring,
    sealed: SealedColumn,
    on_progress: Callable[[int], None],
) -> int:
    """Wrap every value of a column under the active master key, some at a time.

    Returns how many were not. It may be cut off and run again, also on several nodes at once. A
    value that was replaced meanwhile stays as it is.

    Raises:
        CiphertextInvalid: one is not what was encrypted there; it stays as it is.
        MasterVersionMissing: the master key of one was not provided.
    """
    changed = 0
    after: sa.ColumnElement[bool] = sa.true()
    while True:
        async with open_transaction() as transaction:
            rows = await _read(transaction, sealed, after)
            others = [one for one in rows if keyring.needs_rewrap(one.value)]
            for one in others:
                await _rewrap_one(transaction, keyring, sealed, one)
        changed += len(others)
        on_progress(len(rows))
        if len(rows) < BATCH:
            return changed
        after = sealed.is_after(rows[-1].key)


async def _rewrap_one(
    transaction: Transaction, keyring: Keyring, sealed: SealedColumn, one: _Value
) -> None:
    table, column = sealed.place
    new = keyring.rewrap(one.value, table=table, column=column, row=sealed.row(one.key))
    await transaction.connection.execute(
        sa.update(sealed.column.table)
        .where(*(c == v for c, v in zip(sealed.key, one.key, strict=True)))
        .where(sealed.column == one.value)
        .values({sealed.column.name: new})
    )


async def require_known_versions(transaction: Transaction, keyring: Keyring) -> None:
    """Raise MasterVersionMissing when a key is under a version that this node has not."""
    for version in sorted(await master_versions(transaction, KEYS)):
        if not keyring.has(version):
            raise MasterVersionMissing(version)
