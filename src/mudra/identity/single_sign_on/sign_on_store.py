"""Single sign-on in PostgreSQL."""

from datetime import datetime
from typing import Final, cast

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from mudra.identity.single_sign_on.ports import SignOnAttempt
from mudra.storage.database.oldest_of_busiest import oldest_of_busiest
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.identity import local_sign_in, sign_on_attempt

_C: Final = sign_on_attempt.c
_ADD_ATTEMPT: Final = insert(sign_on_attempt)
_PUT_ATTEMPT: Final = _ADD_ATTEMPT.on_conflict_do_update(
    index_elements=["holder"],
    set_={
        "state": _ADD_ATTEMPT.excluded.state,
        "path": _ADD_ATTEMPT.excluded.path,
        "address": _ADD_ATTEMPT.excluded.address,
        "expires_at": _ADD_ATTEMPT.excluded.expires_at,
    },
)
_TAKE_ATTEMPT: Final = (
    sa.delete(sign_on_attempt)
    .where(_C.holder == sa.bindparam("holder"))
    .returning(_C.state, _C.path, _C.address, _C.expires_at)
)
_WAITS: Final = _C.expires_at > sa.bindparam("now")
_WAITING: Final = sa.select(
    sa.func.count().filter(_C.address == sa.bindparam("address")), sa.func.count()
).where(_WAITS)
_MAKE_ROOM: Final = oldest_of_busiest(sign_on_attempt, _WAITS)
_ALLOWED_UNTIL: Final = sa.select(local_sign_in.c.until).where(
    local_sign_in.c.user_id == sa.bindparam("user_id")
)


class SingleSignOn:
    """Attempts at the provider, and exceptions from single sign-on."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def put_attempt(self, attempt: SignOnAttempt) -> None:
        """Store an attempt; it replaces the browser's earlier one."""
        await self._tx.connection.execute(
            _PUT_ATTEMPT,
            {
                "holder": attempt.holder,
                "state": attempt.state,
                "path": attempt.path,
                "address": attempt.address,
                "expires_at": attempt.expires_at,
            },
        )

    async def take_attempt(self, holder: bytes, now: datetime) -> SignOnAttempt | None:
        """Delete a browser's attempt and return it; None when there is none that still counts."""
        row = (await self._tx.connection.execute(_TAKE_ATTEMPT, {"holder": holder})).first()
        if row is None or now >= row.expires_at:
            return None
        return SignOnAttempt(holder, bytes(row.state), row.path, row.address, row.expires_at)

    async def waiting(self, address: str, now: datetime) -> tuple[int, int]:
        """Count the attempts that wait: of an address, and of all."""
        which = {"address": address, "now": now}
        row = (await self._tx.connection.execute(_WAITING, which)).one()
        return int(row[0]), int(row[1])

    async def make_room(self, now: datetime) -> None:
        """Delete the oldest attempt that waits of the address that has the most."""
        await self._tx.connection.execute(_MAKE_ROOM, {"now": now})

    async def allow_password(self, user_id: str, until: datetime) -> None:
        """Let an operator sign in with a password until then, whatever the setting says."""
        await self._tx.connection.execute(
            insert(local_sign_in)
            .values(user_id=user_id, until=until)
            .on_conflict_do_update(index_elements=["user_id"], set_={"until": until})
        )

    async def allowed_until(self, user_id: str) -> datetime | None:
        """Return until when an operator may."""
        found = await self._tx.connection.scalar(_ALLOWED_UNTIL, {"user_id": user_id})
        return cast("datetime | None", found)
