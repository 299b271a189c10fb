"""Failed sign-ins in PostgreSQL.

Names and addresses are stored as keyed hashes only, whether or not they exist.
Each kind has a space of its own: what is typed as a user name
reaches no count of another kind.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.dialects.postgresql import insert

from mudra.identity.accounts.user import UserState
from mudra.identity.sign_in.throttle import (
    ADDRESS_PERIOD,
    FRESH,
    SUCCESS_PERIOD,
    Counted,
    History,
    Standing,
)
from mudra.storage.database.transaction import Transaction
from mudra.storage.mail.outbox import OUTBOX_CHANGED
from mudra.storage.tables.identity import (
    address_failure,
    sign_in_success,
    sign_in_wait,
    throttle,
    user_account,
)


class GuessedAccount(Struct, frozen=True):
    """A user whose password someone is guessing."""

    email: str
    name: str
    state: UserState
    failures: int
    last_failure_at: datetime


_T: Final = throttle.c
_A: Final = address_failure.c
_S: Final = sign_in_success.c
Times = Sequence[datetime] | None
_HISTORY: Final = sa.select(_T.failures, _T.last_failure_at).where(
    _T.account_key == sa.bindparam("account_key")
)
_LOCKED_HISTORY: Final = (
    # A row to lock must exist, for names that have none as for those that do.
    insert(throttle)
    .on_conflict_do_update(index_elements=["account_key"], set_={"failures": _T.failures})
    .returning(_T.failures, _T.last_failure_at)
)
_ADD_HISTORY: Final = insert(throttle)
_SAVE: Final = _ADD_HISTORY.on_conflict_do_update(
    index_elements=["account_key"],
    set_={
        "failures": _ADD_HISTORY.excluded.failures,
        "last_failure_at": _ADD_HISTORY.excluded.last_failure_at,
    },
)
_OF_ADDRESS: Final = (
    sa.select(_A.at)
    .where(_A.address_key == sa.bindparam("address_key"), _A.at > sa.bindparam("since"))
    .order_by(_A.at)
)
_ADDRESS_FAILED: Final = sa.insert(address_failure)
_SUCCESSES: Final = (
    sa.select(_S.at)
    .where(_S.account_key == sa.bindparam("account_key"), _S.at > sa.bindparam("since"))
    .order_by(_S.at)
)
_MOMENT: Final = sa.select(
    (sa.func.clock_timestamp() + sa.bindparam("offset", type_=sa.Interval)).label("now")
).cte("moment")


def _recent(
    at: sa.Column[datetime], period: timedelta, *of: sa.ColumnElement[bool]
) -> sa.ScalarSelect[Times]:
    since = sa.select(_MOMENT.c.now - period).scalar_subquery()
    return sa.select(sa.func.array_agg(at)).where(*of, at > since).scalar_subquery()


def _standing(
    *of_successes: sa.ColumnElement[bool],
) -> sa.Select[datetime, int | None, datetime | None, Times, Times]:
    of_name = _S.account_key == sa.bindparam("account_key")
    from_there = _A.address_key == sa.bindparam("address_key")
    return sa.select(
        *(_MOMENT.c.now, _T.failures, _T.last_failure_at),
        _recent(_A.at, ADDRESS_PERIOD, from_there),
        _recent(_S.at, SUCCESS_PERIOD, of_name, *of_successes),
    ).select_from(_MOMENT.outerjoin(throttle, _T.account_key == sa.bindparam("account_key")))


_STANDING: Final = _standing()
_STANDING_FROM: Final = _standing(_S.address_key == sa.bindparam("address_key"))
_SUCCEEDED: Final = sa.insert(sign_in_success)
_COUNT_SINCE: Final = sa.select(sa.func.count()).where(_A.at > sa.bindparam("since"))
_GUESSED: Final = sa.insert(sign_in_wait)
_TAKEN: Final = (
    sa.delete(sign_in_wait)
    .where(
        sign_in_wait.c.id.in_(
            sa.select(sign_in_wait.c.id).with_for_update(skip_locked=True).scalar_subquery()
        )
    )
    .returning(sign_in_wait.c.user_id, sign_in_wait.c.failures, sign_in_wait.c.last_failure_at)
    .cte("taken")
)
_TAKE_GUESSED: Final = (
    sa.select(
        *(user_account.c.email, user_account.c.name, user_account.c.state),
        *(_TAKEN.c.failures, _TAKEN.c.last_failure_at),
    )
    .join(_TAKEN, _TAKEN.c.user_id == user_account.c.user_id)
    .order_by(_TAKEN.c.last_failure_at)
)


class Attempts:
    """Failures in a row by name, and recent failures by address."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction
        self._encryption = transaction.encryption

    async def standing(self, username: str, address: str, *, from_there: bool) -> Standing:
        """Read what decides on a sign-in, whether or not the name exists; locks nothing."""
        found = await self._tx.connection.execute(
            _STANDING_FROM if from_there else _STANDING,
            {
                "account_key": self._key(Counted.PASSWORD, username),
                "address_key": self._address_key(address),
                "offset": self._tx.offset,
            },
        )
        now, failures, last_failure_at, of_address, successes = found.one()
        history = FRESH if failures is None else History(failures, last_failure_at)
        return Standing(now, history, of_address or (), successes or ())

    async def history(self, counted: Counted, name: str, *, lock: bool) -> History:
        """Read the failures in a row of a name, whether or not it exists."""
        key = self._key(counted, name)
        found = (
            await self._tx.connection.execute(_LOCKED_HISTORY, {"account_key": key, "failures": 0})
            if lock
            else await self._tx.connection.execute(_HISTORY, {"account_key": key})
        )
        row = found.first()
        return History(row[0], row[1]) if row else FRESH

    async def save(self, counted: Counted, name: str, history: History) -> None:
        """Store the failures in a row of a name."""
        await self._tx.connection.execute(
            _SAVE,
            {
                "account_key": self._key(counted, name),
                "failures": history.failures,
                "last_failure_at": history.last_failure_at,
            },
        )

    async def of_address(self, address: str, since: datetime) -> Sequence[datetime]:
        """Return the times of failures from an address."""
        found = await self._tx.connection.scalars(
            _OF_ADDRESS, {"address_key": self._address_key(address), "since": since}
        )
        return found.all()

    async def address_failed(self, address: str, now: datetime) -> None:
        """Record a failure from an address."""
        await self._tx.connection.execute(
            _ADDRESS_FAILED, {"address_key": self._address_key(address), "at": now}
        )

    async def lock_address(self, address: str) -> None:
        """Let attempts from an address wait for each other until this transaction ends."""
        await self._tx.lock_name(f"sign-in:{address}")

    async def successes(self, username: str, since: datetime) -> Sequence[datetime]:
        """Return when a name signed in."""
        which = {"account_key": self._encryption.name_mac(username), "since": since}
        return (await self._tx.connection.scalars(_SUCCESSES, which)).all()

    async def succeeded(self, username: str, address: str, now: datetime) -> None:
        """Record a sign-in of a name from an address."""
        await self._tx.connection.execute(
            _SUCCEEDED,
            {
                "account_key": self._encryption.name_mac(username),
                "address_key": self._address_key(address),
                "at": now,
            },
        )

    async def count_since(self, since: datetime) -> int:
        """Count the failures over all names and addresses."""
        found = await self._tx.connection.scalar(_COUNT_SINCE, {"since": since})
        return int(found or 0)

    async def guessed(self, user_id: str | None, failures: int, last_failure_at: datetime) -> None:
        """Queue a notice to the user; None takes the same time and notifies no one."""
        await self._tx.connection.execute(
            _GUESSED,
            {"user_id": user_id, "failures": failures, "last_failure_at": last_failure_at},
        )
        await self._tx.changing(OUTBOX_CHANGED)

    async def take_guessed(self) -> Sequence[GuessedAccount]:
        """Take the queued notices, so that no other transaction sends them."""
        rows = await self._tx.connection.execute(_TAKE_GUESSED)
        return [GuessedAccount(row[0], row[1], UserState(row[2]), row[3], row[4]) for row in rows]

    def _key(self, counted: Counted, name: str) -> bytes:
        if counted is Counted.PASSWORD:
            # As before there were kinds: a password that a hundred guesses disabled stays so.
            return self._encryption.name_mac(name)
        return self._encryption.kind_mac(counted.value, name)

    def _address_key(self, address: str) -> bytes:
        return self._encryption.kind_mac("address", address)
