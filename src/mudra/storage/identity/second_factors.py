"""Second factors in PostgreSQL: implements identity/second_factor/ports.py.

Secrets of apps are encrypted; of recovery codes only a keyed hash is stored.
"""

from collections.abc import Sequence

import sqlalchemy as sa

from mudra.identity.second_factor.ports import EnrolledFactors, TotpFactor
from mudra.identity.second_factor.recovery_codes import canonical
from mudra.shared.ids import fresh_id
from mudra.shared.secret_text import SecretText
from mudra.storage.crypto.data_encryption import DataEncryption
from mudra.storage.database.database import Transaction
from mudra.storage.identity.passkeys import PostgresPasskeys
from mudra.storage.identity.tables import passkey, recovery_code, totp_factor

PLACE = ("totp_factor", "sealed_secret")


class PostgresSecondFactors:
    """Authenticator apps and recovery codes."""

    def __init__(self, transaction: Transaction, encryption: DataEncryption) -> None:
        self._tx = transaction
        self._encryption = encryption

    @property
    def passkeys(self) -> PostgresPasskeys:
        """Passkeys and their challenges."""
        return PostgresPasskeys(self._tx)

    async def enrolled(self, user_id: str) -> EnrolledFactors:
        """Return which second factors a person has."""
        app = sa.exists().where(totp_factor.c.user_id == user_id, totp_factor.c.confirmed)
        keys = sa.select(sa.func.count()).where(passkey.c.user_id == user_id).scalar_subquery()
        row = (await self._tx.connection.execute(sa.select(app, keys))).one()
        return EnrolledFactors(bool(row[0]), int(row[1]))

    async def totp(self, user_id: str, *, confirmed: bool = True) -> TotpFactor | None:
        """Find a person's app, the one in use or the one being set up, and hold its lock."""
        c = totp_factor.c
        row = (
            await self._tx.connection.execute(
                sa.select(c.factor_id, c.sealed_secret, c.last_step)
                .where(c.user_id == user_id, c.confirmed.is_(confirmed))
                .with_for_update()
            )
        ).first()
        if row is None:
            return None
        table, column = PLACE
        return TotpFactor(
            row.factor_id,
            self._encryption.decrypt_text(row.sealed_secret, table, column, row.factor_id),
            row.last_step,
        )

    async def begin_totp(self, user_id: str, secret: SecretText) -> None:
        """Store the secret of an app that is being set up; it replaces an earlier one."""
        c, factor_id = totp_factor.c, fresh_id()
        table, column = PLACE
        await self._tx.connection.execute(
            sa.delete(totp_factor).where(c.user_id == user_id, c.confirmed.is_(False))
        )
        await self._tx.connection.execute(
            sa.insert(totp_factor).values(
                factor_id=factor_id,
                user_id=user_id,
                sealed_secret=self._encryption.encrypt_text(secret, table, column, factor_id),
                confirmed=False,
                last_step=0,
                created_at=await self._tx.now(),
            )
        )

    async def confirm_totp(self, user_id: str, step: int) -> None:
        """Put the app being set up into use, with its first step used; it replaces the earlier."""
        c = totp_factor.c
        await self._tx.connection.execute(
            sa.delete(totp_factor).where(c.user_id == user_id, c.confirmed)
        )
        await self._tx.connection.execute(
            sa.update(totp_factor)
            .where(c.user_id == user_id)
            .values(confirmed=True, last_step=step)
        )

    async def step_used(self, factor_id: str, step: int) -> None:
        """Record the last used step."""
        await self._tx.connection.execute(
            sa.update(totp_factor)
            .where(totp_factor.c.factor_id == factor_id)
            .values(last_step=step)
        )

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
        c = recovery_code.c
        done = await self._tx.connection.execute(
            sa.delete(recovery_code).where(
                c.user_id == user_id, c.code_mac == self._mac(user_id, code)
            )
        )
        return done.rowcount == 1

    async def recovery_codes_left(self, user_id: str) -> int:
        """Count the codes that were not used."""
        found = await self._tx.connection.scalar(
            sa.select(sa.func.count()).where(recovery_code.c.user_id == user_id)
        )
        return int(found or 0)

    def _mac(self, user_id: str, code: SecretText) -> bytes:
        letters = canonical(code)
        if letters is None:
            raise ValueError("a recovery code is sixteen letters of Base32")
        # No entity's ID has a colon: no secret of an entity has the hash of a code.
        return self._encryption.secret_mac(f"recovery-code:{user_id}", letters)
