"""Failed sign-ins in PostgreSQL: implements identity/ports.py.

Names and addresses are stored as keyed hashes only, whether or not they exist
(quality A2). Each kind has a space of its own: what is typed as a user name
reaches no count of another kind.
"""

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from mudra.identity.accounts.user import UserState
from mudra.identity.ports import GuessedAccount
from mudra.identity.sign_in.throttle import FRESH, Counted, History
from mudra.storage.crypto.data_encryption import DataEncryption
from mudra.storage.database.database import Transaction
from mudra.storage.database.tables import address_failure, throttle, user_account
from mudra.storage.identity.tables import sign_in_success, sign_in_wait
from mudra.storage.mail.outbox import OUTBOX_CHANGED


class PostgresAttempts:
    """Failures in a row by name, and recent failures by address."""

    def __init__(self, transaction: Transaction, encryption: DataEncryption) -> None:
        self._tx = transaction
        self._encryption = encryption

    async def history(self, counted: Counted, name: str, *, lock: bool) -> History:
        """Read the failures in a row of a name, whether or not it exists."""
        key = self._key(counted, name)
        found = (throttle.c.failures, throttle.c.last_failure_at)
        query: sa.Executable = sa.select(*found).where(throttle.c.account_key == key)
        if lock:
            # A row to lock must exist, for names that have none as for those that do.
            query = (
                insert(throttle)
                .values(account_key=key, failures=0)
                .on_conflict_do_update(
                    index_elements=["account_key"], set_={"failures": throttle.c.failures}
                )
                .returning(*found)
            )
        row = (await self._tx.connection.execute(query)).first()
        return History(row[0], row[1]) if row else FRESH

    async def save(self, counted: Counted, name: str, history: History) -> None:
        """Store the failures in a row of a name."""
        values = {"failures": history.failures, "last_failure_at": history.last_failure_at}
        await self._tx.connection.execute(
            insert(throttle)
            .values(account_key=self._key(counted, name), **values)
            .on_conflict_do_update(index_elements=["account_key"], set_=values)
        )

    async def of_address(self, address: str, since: datetime) -> Sequence[datetime]:
        """Return the times of failures from an address."""
        c = address_failure.c
        found = await self._tx.connection.scalars(
            sa.select(c.at)
            .where(c.address_key == self._address_key(address), c.at > since)
            .order_by(c.at)
        )
        return found.all()

    async def address_failed(self, address: str, now: datetime) -> None:
        """Record a failure from an address."""
        await self._tx.connection.execute(
            sa.insert(address_failure).values(address_key=self._address_key(address), at=now)
        )

    async def lock_address(self, address: str) -> None:
        """Let attempts from an address wait for each other until this transaction ends."""
        await self._tx.lock_name(f"sign-in:{address}")

    async def successes(
        self, username: str, since: datetime, *, address: str = ""
    ) -> Sequence[datetime]:
        """Return when a name signed in, from anywhere or from one address."""
        c = sign_in_success.c
        which = [c.account_key == self._encryption.name_mac(username), c.at > since]
        if address:
            which.append(c.address_key == self._address_key(address))
        found = await self._tx.connection.scalars(sa.select(c.at).where(*which).order_by(c.at))
        return found.all()

    async def succeeded(self, username: str, address: str, now: datetime) -> None:
        """Record a sign-in of a name from an address."""
        await self._tx.connection.execute(
            sa.insert(sign_in_success).values(
                account_key=self._encryption.name_mac(username),
                address_key=self._address_key(address),
                at=now,
            )
        )

    async def count_since(self, since: datetime) -> int:
        """Count the failures over all names and addresses."""
        found = await self._tx.connection.scalar(
            sa.select(sa.func.count()).where(address_failure.c.at > since)
        )
        return int(found or 0)

    async def guessed(self, user_id: str | None, failures: int, last_failure_at: datetime) -> None:
        """Queue a notice to the user; None takes the same time and notifies no one."""
        await self._tx.connection.execute(
            sa.insert(sign_in_wait).values(
                user_id=user_id, failures=failures, last_failure_at=last_failure_at
            )
        )
        await self._tx.changing(OUTBOX_CHANGED)

    async def take_guessed(self) -> Sequence[GuessedAccount]:
        """Take the queued notices; names without a user are dropped."""
        waiting = sign_in_wait.c
        taken = (
            sa.delete(sign_in_wait)
            .where(
                waiting.id.in_(
                    sa.select(waiting.id).with_for_update(skip_locked=True).scalar_subquery()
                )
            )
            .returning(waiting.user_id, waiting.failures, waiting.last_failure_at)
            .cte("taken")
        )
        u = user_account.c
        rows = await self._tx.connection.execute(
            sa.select(u.email, u.name, u.state, taken.c.failures, taken.c.last_failure_at)
            .join(taken, taken.c.user_id == u.user_id)
            .order_by(taken.c.last_failure_at)
        )
        return [GuessedAccount(row[0], row[1], UserState(row[2]), row[3], row[4]) for row in rows]

    def _key(self, counted: Counted, name: str) -> bytes:
        if counted is Counted.PASSWORD:
            # As before there were kinds: a password that a hundred guesses disabled stays so.
            return self._encryption.name_mac(name)
        return self._encryption.kind_mac(counted.value, name)

    def _address_key(self, address: str) -> bytes:
        return self._encryption.kind_mac("address", address)
