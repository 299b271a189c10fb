"""Second factors in PostgreSQL.

Secrets of apps are encrypted; of recovery codes only a keyed hash is stored. The secret of an app
that is being set up is stored nowhere: it is a keyed hash of a challenge of the session (0075).
"""

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import Final

import sqlalchemy as sa

from mudra.identity.passkeys.passkey import Challenge, Purpose
from mudra.identity.passkeys.passkey_store import Passkeys
from mudra.identity.second_factor.factors import EnrolledFactors, TotpFactor
from mudra.identity.second_factor.recovery_codes import canonical
from mudra.identity.second_factor.totp import new_totp_secret
from mudra.shared.ids import fresh_id
from mudra.shared.secret_text import SecretText
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.identity import passkey, passkey_challenge, recovery_code, totp_factor

PLACE = ("totp_factor", "sealed_secret")

_APP: Final = totp_factor.c
_CODE: Final = recovery_code.c
_ENROLLED: Final = sa.select(
    sa.exists().where(_APP.user_id == sa.bindparam("user_id")),
    sa.select(sa.func.count())
    .where(passkey.c.user_id == sa.bindparam("user_id"))
    .scalar_subquery(),
)
_TOTP: Final = (
    sa.select(_APP.factor_id, _APP.sealed_secret, _APP.last_step)
    .where(_APP.user_id == sa.bindparam("user_id"))
    .with_for_update()
)
_PENDING_TOTP: Final = sa.select(passkey_challenge.c.value).where(
    passkey_challenge.c.holder == sa.bindparam("holder"),
    passkey_challenge.c.purpose == Purpose.ADD.value,
    passkey_challenge.c.expires_at > sa.bindparam("now"),
)
_STEP_USED: Final = (
    sa.update(totp_factor)
    .where(_APP.factor_id == sa.bindparam("of_factor"))
    .values(last_step=sa.bindparam("step"))
)
_USE_CODE: Final = sa.delete(recovery_code).where(
    _CODE.user_id == sa.bindparam("user_id"), _CODE.code_mac == sa.bindparam("code_mac")
)
_CODES_LEFT: Final = sa.select(sa.func.count()).where(_CODE.user_id == sa.bindparam("user_id"))


def _holder(session_key: bytes) -> bytes:
    """Name a session among the holders of challenges, apart from its challenge for a passkey."""
    return hashlib.sha256(b"authenticator app:" + session_key).digest()


class SecondFactors:
    """Stores authenticator apps and recovery codes."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction
        self._encryption = transaction.encryption

    @property
    def passkeys(self) -> Passkeys:
        """Passkeys and their challenges."""
        return Passkeys(self._tx)

    async def enrolled(self, user_id: str) -> EnrolledFactors:
        """Return which second factors a person has."""
        row = (await self._tx.connection.execute(_ENROLLED, {"user_id": user_id})).one()
        return EnrolledFactors(bool(row[0]), int(row[1]))

    async def totp(self, user_id: str) -> TotpFactor | None:
        """Find the app that a person uses, and hold its lock."""
        row = (await self._tx.connection.execute(_TOTP, {"user_id": user_id})).first()
        if row is None:
            return None
        table, column = PLACE
        return TotpFactor(
            row.factor_id,
            self._encryption.decrypt_text(row.sealed_secret, table, column, row.factor_id),
            row.last_step,
        )

    async def begin_totp(
        self, user_id: str, session_key: bytes, value: bytes, expires_at: datetime
    ) -> SecretText:
        """Begin to set up an app in a session; returns its secret, which `value` gives.

        It replaces the one that the same session began before.
        """
        await self.passkeys.put_challenge(
            Challenge(_holder(session_key), Purpose.ADD, value, expires_at)
        )
        return self._derived(user_id, value)

    async def pending_totp(
        self, user_id: str, session_key: bytes, now: datetime
    ) -> SecretText | None:
        """Return the secret of the app that this very session sets up; None once it expired."""
        value = await self._tx.connection.scalar(
            _PENDING_TOTP, {"holder": _holder(session_key), "now": now}
        )
        return None if value is None else self._derived(user_id, bytes(value))

    async def confirm_totp(
        self, user_id: str, session_key: bytes, secret: SecretText, step: int
    ) -> None:
        """Put the app that the session sets up into use, with its first step used.

        It replaces the person's earlier one.
        """
        now, factor_id = await self._tx.now(), fresh_id()
        table, column = PLACE
        await self.passkeys.take_challenge(_holder(session_key), Purpose.ADD, now)
        await self.remove_totp(user_id)
        await self._tx.connection.execute(
            sa.insert(totp_factor).values(
                factor_id=factor_id,
                user_id=user_id,
                sealed_secret=self._encryption.encrypt_text(secret, table, column, factor_id),
                last_step=step,
                created_at=now,
            )
        )

    async def step_used(self, factor_id: str, step: int) -> None:
        """Record the last used step."""
        await self._tx.connection.execute(_STEP_USED, {"of_factor": factor_id, "step": step})

    async def remove_totp(self, user_id: str) -> None:
        """Delete a person's apps; passkeys and recovery codes stay."""
        await self._tx.connection.execute(
            sa.delete(totp_factor).where(totp_factor.c.user_id == user_id)
        )

    async def remove(self, user_id: str) -> bool:
        """Delete a person's apps, passkeys and recovery codes; False when none was in use."""
        had = (await self.enrolled(user_id)).any
        for table in (totp_factor, passkey, recovery_code):
            await self._tx.connection.execute(sa.delete(table).where(table.c.user_id == user_id))
        return had

    async def replace_recovery_codes(self, user_id: str, codes: Sequence[SecretText]) -> None:
        """Store the hashes of new codes; the earlier ones end."""
        await self._tx.connection.execute(
            sa.delete(recovery_code).where(recovery_code.c.user_id == user_id)
        )
        await self._tx.connection.execute(
            sa.insert(recovery_code),
            [{"user_id": user_id, "code_mac": self._mac(user_id, code)} for code in codes],
        )

    async def use_recovery_code(self, user_id: str, code: SecretText) -> bool:
        """Delete a code that was typed; False when the person has none like it."""
        done = await self._tx.connection.execute(
            _USE_CODE, {"user_id": user_id, "code_mac": self._mac(user_id, code)}
        )
        return done.rowcount == 1

    async def recovery_codes_left(self, user_id: str) -> int:
        """Count the codes that were not used."""
        found = await self._tx.connection.scalar(_CODES_LEFT, {"user_id": user_id})
        return int(found or 0)

    def _derived(self, user_id: str, value: bytes) -> SecretText:
        # Not encrypted: a change of the master key meanwhile has nothing to encrypt again.
        secret = self._encryption.kind_mac("authenticator-app", f"{user_id}:{value.hex()}")
        return new_totp_secret(lambda size: secret[:size])

    def _mac(self, user_id: str, code: SecretText) -> bytes:
        letters = canonical(code)
        if letters is None:
            raise ValueError("a recovery code is sixteen letters of Base32")
        # No entity's ID has a colon: no secret of an entity has the hash of a code.
        return self._encryption.secret_mac(f"recovery-code:{user_id}", letters)
