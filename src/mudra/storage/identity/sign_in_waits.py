"""Names at which somebody guesses, until their users are told."""

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa
from msgspec import Struct

from mudra.identity.sign_in.throttle import ADDRESS_PERIOD
from mudra.storage.database.database import Transaction
from mudra.storage.database.tables import address_failure, user_account
from mudra.storage.identity.tables import sign_in_wait


class Guessed(Struct, frozen=True):
    """A user at whose password somebody guesses."""

    email: str
    name: str
    failures: int
    last_failure_at: datetime


async def failures_of_all(transaction: Transaction) -> int:
    """Count the failed sign-ins of the last five minutes, over all names and addresses."""
    since = await transaction.now() - ADDRESS_PERIOD
    found = await transaction.connection.scalar(
        sa.select(sa.func.count()).where(address_failure.c.at > since)
    )
    return int(found or 0)


async def take_guessed(transaction: Transaction) -> Sequence[Guessed]:
    """Take all that wait, for this transaction; names without a user fall away."""
    taken = (
        sa.delete(sign_in_wait)
        .where(
            sign_in_wait.c.id.in_(
                sa.select(sign_in_wait.c.id).with_for_update(skip_locked=True).scalar_subquery()
            )
        )
        .returning(sign_in_wait.c.user_id, sign_in_wait.c.failures, sign_in_wait.c.last_failure_at)
        .cte("taken")
    )
    u = user_account.c
    rows = await transaction.connection.execute(
        sa.select(u.email, u.name, taken.c.failures, taken.c.last_failure_at)
        .join(taken, taken.c.user_id == u.user_id)
        .where(u.state == "active")
        .order_by(taken.c.last_failure_at)
    )
    return [Guessed(*row) for row in rows]
