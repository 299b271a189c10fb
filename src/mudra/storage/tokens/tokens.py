"""Entity secrets and issued tokens in PostgreSQL: implements tokens/ports.py."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Final, cast

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, insert

from mudra.shared.entity_type import EntityType
from mudra.shared.secret_text import SecretText
from mudra.storage.caching.cache_invalidation import entity_key, revoked_key
from mudra.storage.crypto.data_encryption import DataEncryption
from mudra.storage.database.database import Transaction
from mudra.storage.database.tables import (
    entity,
    entity_secret,
    revoked_entity_token,
    user_token,
)
from mudra.storage.identity.tables import console_session, user_token_use
from mudra.storage.registry.tables import registry_version
from mudra.storage.tokens.entity_status import entity_accepts
from mudra.storage.tokens.registered_keys import ips_of
from mudra.tokens.ports import EntityCredentials, SecretHolding, StoredSecret, UserTokenRecord
from mudra.tokens.revocation.revocation_limit import ListedTokens
from mudra.tokens.secrets.address_binding import (
    AddressBinding,
    Network,
    is_enforced,
    networks_of,
)
from mudra.tokens.secrets.reset_rule import PERIOD
from mudra.tokens.secrets.secret import EntitySecret, Rotation, SecretState

_REMEMBERED_VERSIONS: Final = 8
"""How many previous secrets are still recognized, to report that their grace has ended."""

Row = Mapping[str, object]

_S: Final = entity_secret.c
_T: Final = user_token.c
_USE: Final = user_token_use.c
_LOCK: Final = (
    sa.select(entity.c.entity_id)
    .where(entity.c.entity_id == sa.bindparam("entity_id"))
    .with_for_update()
)
_HELD: Final = (
    sa.select(entity_secret)
    .where(
        _S.entity_id == sa.bindparam("entity_id"),
        sa.or_(_S.state != "ended", _S.created_at > sa.bindparam("since")),
    )
    .order_by(_S.version)
)
_SEALED: Final = sa.select(_S.sealed).where(
    _S.entity_id == sa.bindparam("entity_id"), _S.version == sa.bindparam("version")
)
_ADD: Final = sa.insert(entity_secret)
_REQUESTED: Final = sa.bindparam("requested", type_=ARRAY(sa.Text))
_OF_ONE: Final = (
    sa.select(entity_secret)
    .where(
        _S.entity_id == sa.column("requested_id"),
        sa.or_(_S.state != "ended", _S.grace_until.is_not(None)),
    )
    .order_by(_S.version.desc())
    .limit(_REMEMBERED_VERSIONS)
    .lateral("of_one")
)
_OF_EACH: Final = sa.select(_OF_ONE).select_from(
    sa.func.unnest(_REQUESTED).alias("requested_id").join(_OF_ONE, sa.true())
)
_BEYOND: Final = (
    sa.select(_T.jti)
    .outerjoin(user_token_use, _USE.jti == _T.jti)
    .where(
        _T.user_id == sa.bindparam("of_user"),
        _T.revoked_at.is_(None),
        _T.expires_at > sa.bindparam("now"),
    )
    .order_by(
        (_USE.last_used_at > sa.bindparam("now") - timedelta(days=1)).is_(True).desc(),
        sa.func.coalesce(_USE.last_used_at, _T.issued_at).desc(),
        _T.jti,
    )
    .offset(sa.bindparam("keep", type_=sa.Integer))
)
_END_LEAST_USED: Final = (
    sa.update(user_token)
    .where(_T.jti.in_(_BEYOND.scalar_subquery()))
    .values(revoked_at=sa.bindparam("now"))
    .returning(_T.jti)
)
_KEEP_USER_TOKEN: Final = _END_LEAST_USED.add_cte(  # which does not see it yet
    sa.insert(user_token)
    .values(
        jti=sa.bindparam("new"),
        user_id=sa.bindparam("of_user"),
        issued_at=sa.bindparam("now"),
        expires_at=sa.bindparam("until"),
    )
    .cte("kept")
)
_USER_TOKEN: Final = sa.select(user_token).where(_T.jti == sa.bindparam("jti"))
_REVOKE_USER_TOKEN: Final = (
    sa.update(user_token)
    .where(_T.jti == sa.bindparam("token"), _T.revoked_at.is_(None))
    .values(revoked_at=sa.bindparam("now"))
)
_REVOKE_ENTITY_TOKEN: Final = (
    insert(revoked_entity_token).on_conflict_do_nothing().returning(revoked_entity_token.c.jti)
)
_REVOKED_OF: Final = sa.select(revoked_entity_token.c.jti).where(
    revoked_entity_token.c.jti == sa.any_(_REQUESTED)
)


class PostgresSecrets:
    """Entity secrets, encrypted for reading back and hashed under a key for checking."""

    def __init__(self, transaction: Transaction, encryption: DataEncryption) -> None:
        self._tx = transaction
        self._encryption = encryption

    async def locked(self, entity_id: str) -> SecretHolding | None:
        """Lock the entity for this transaction; None when there is no such entity."""
        row = await self._tx.connection.execute(_LOCK, {"entity_id": entity_id})
        if row.first() is None:
            return None
        return await self.held(entity_id)

    async def held(self, entity_id: str) -> SecretHolding | None:
        """Read the entity's secrets and its resets of the last 24 hours."""
        now = await self._tx.now()
        rows = (
            await self._tx.connection.execute(
                _HELD, {"entity_id": entity_id, "since": now - PERIOD}
            )
        ).mappings()
        secrets = [_secret(cast("Row", row)) for row in rows]
        current = next((s for s in secrets if s.state is SecretState.CURRENT), None)
        if current is None:
            return None
        first_at = next((s.created_at for s in secrets if s.version == 1), None)
        return SecretHolding(
            current=current,
            in_grace=next((s for s in secrets if s.state is SecretState.GRACE), None),
            # The first version was made by onboarding, and one of that instant was imported
            # with it: neither is a reset.
            resets=[s.created_at for s in secrets if s.version > 1 and s.created_at != first_at],
            now=now,
        )

    async def text_of(self, secret: EntitySecret) -> SecretText | None:
        """Decrypt the text of one secret; None when it has ended since it was read."""
        sealed = await self._tx.connection.scalar(
            _SEALED, {"entity_id": secret.entity_id, "version": secret.version}
        )
        if sealed is None:
            return None
        assert isinstance(sealed, bytes)
        return self._encryption.decrypt_text(sealed, "entity_secret", "sealed", _row_name(secret))

    async def keep_first(self, secret: EntitySecret, text: SecretText) -> None:
        """Store the secret that onboarding made."""
        await self._insert(secret, text)
        await self._tx.changing(entity_key(secret.entity_id))

    async def replace(self, rotation: Rotation, text: SecretText) -> None:
        """Store a reset; every node stops using its cache of the entity before the commit."""
        entity_id = rotation.new.entity_id
        c = entity_secret.c
        await self._tx.connection.execute(
            sa.update(entity_secret)
            .where(c.entity_id == entity_id, c.state != "ended")
            .values(state="ended", sealed=None)
        )
        previous = rotation.previous
        if previous.state is SecretState.GRACE:
            await self._tx.connection.execute(
                sa.update(entity_secret)
                .where(c.entity_id == entity_id, c.version == previous.version)
                .values(
                    state="grace",
                    grace_until=previous.grace_until,
                    grace_days=previous.grace_days,
                )
            )
        await self._insert(rotation.new, text)
        await self._tx.changing(entity_key(entity_id), must_not_be_missed=True)

    async def end_grace(self, secret: EntitySecret, now: datetime) -> None:
        """End a grace period early; every node stops using its cache before the commit."""
        c = entity_secret.c
        await self._tx.connection.execute(
            sa.update(entity_secret)
            .where(c.entity_id == secret.entity_id, c.version == secret.version)
            .values(state="ended", sealed=None, grace_until=sa.func.least(c.grace_until, now))
        )
        await self._tx.changing(entity_key(secret.entity_id), must_not_be_missed=True)

    async def credentials(
        self, entity_ids: Collection[str], *, network_enforces: bool = False
    ) -> dict[str, EntityCredentials]:
        """Read the credentials of those entities that exist.

        With `network_enforces`, those without a choice of their own are bound to their addresses.
        """
        requested = {"requested": list(entity_ids)}
        members = await self._tx.connection.execute(
            _members(network_enforces=network_enforces), requested
        )
        rows = (await self._tx.connection.execute(_OF_EACH, requested)).mappings()
        known: dict[str, list[StoredSecret]] = {}
        for row in rows:
            secret = _secret(cast("Row", row))
            known.setdefault(secret.entity_id, []).append(
                StoredSecret(cast("bytes", row["mac"]), secret)
            )
        return {
            entity_id: EntityCredentials(
                entity_id,
                EntityType(kind),
                active=status == "active",
                secrets=tuple(known.get(entity_id, ())),
                tokens_not_before=tokens_not_before,
                bound_to=_bound_to(AddressBinding(binding), body, network_enforces),
            )
            for entity_id, kind, status, tokens_not_before, binding, body in members
        }

    async def _insert(self, secret: EntitySecret, text: SecretText) -> None:
        await self._tx.connection.execute(
            _ADD,
            {
                "entity_id": secret.entity_id,
                "version": secret.version,
                "state": secret.state.value,
                "mac": self._encryption.secret_mac(secret.entity_id, text),
                "sealed": self._encryption.encrypt_text(
                    text, "entity_secret", "sealed", _row_name(secret)
                ),
                "created_at": secret.created_at,
                "expires_at": secret.expires_at,
            },
        )


@cache
def _members(
    *, network_enforces: bool
) -> sa.Select[str, str, str, datetime | None, str, bytes | None]:
    """Select entities, each with its live entry where it may be bound to its addresses."""
    e, v = entity.c, registry_version.c
    binding = {AddressBinding.ENFORCE.value}
    if network_enforces:
        binding.add(AddressBinding.NETWORK.value)
    live = sa.and_(
        v.entity_id == e.entity_id, v.status == "live", e.address_binding.in_(sorted(binding))
    )
    return (
        sa.select(e.entity_id, e.type, e.status, e.tokens_not_before, e.address_binding, v.body)
        .select_from(entity.outerjoin(registry_version, live))
        .where(e.entity_id == sa.any_(_REQUESTED))
    )


def _bound_to(
    own: AddressBinding, body: bytes | None, network_enforces: bool
) -> tuple[Network, ...] | None:
    if own is AddressBinding.WATCH or not (network_enforces or own is AddressBinding.ENFORCE):
        return None
    listed = () if body is None else ips_of(body)
    enforced = is_enforced(own, listed, network_enforces=network_enforces)
    return networks_of(listed) if enforced else None


def _row_name(secret: EntitySecret) -> str:
    return f"{secret.entity_id}/{secret.version}"


def _secret(row: Row) -> EntitySecret:
    return EntitySecret(
        entity_id=cast("str", row["entity_id"]),
        version=cast("int", row["version"]),
        state=SecretState(cast("str", row["state"])),
        created_at=cast("datetime", row["created_at"]),
        expires_at=cast("datetime", row["expires_at"]),
        grace_until=cast("datetime | None", row["grace_until"]),
        grace_days=cast("int", row["grace_days"]),
    )


class PostgresIssuedTokens:
    """User tokens that were issued, and entity tokens that were revoked."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def keep_user_token(self, record: UserTokenRecord, others: int) -> Sequence[str]:
        """Store a user token that is about to be returned; end others beyond so many.

        The least recently used end first, and none that was used within a day before one that
        was not. Returns the jti of each that has ended.
        """
        ended = await self._tx.connection.scalars(
            _KEEP_USER_TOKEN,
            {
                "new": record.jti,
                "of_user": record.user_id,
                "now": record.issued_at,
                "until": record.expires_at,
                "keep": others,
            },
        )
        return ended.all()

    async def user_token(self, jti: str) -> UserTokenRecord | None:
        """Find a user token."""
        found = await self._tx.connection.execute(_USER_TOKEN, {"jti": jti})
        row = found.mappings().first()
        if row is None:
            return None
        return UserTokenRecord(
            row["jti"], row["user_id"], row["issued_at"], row["expires_at"], row["revoked_at"]
        )

    async def revoke_user_token(self, jti: str, now: datetime) -> bool:
        """End one user token; False when there was nothing to end."""
        done = await self._tx.connection.execute(_REVOKE_USER_TOKEN, {"token": jti, "now": now})
        return done.rowcount == 1

    async def revoke_one(self, user_id: str, jti: str, now: datetime) -> bool:
        """End one token of a user; False when it is not theirs or has ended already."""
        c = user_token.c
        found = await self._tx.connection.scalar(
            # As text: what a form names may be no UUID at all.
            sa.select(c.jti).where(c.user_id == user_id, sa.cast(c.jti, sa.Text) == jti)
        )
        return found is not None and await self.revoke_user_token(jti, now)

    async def revoke_user_tokens(self, user_id: str, now: datetime) -> int:
        """End all tokens of a user and return how many; sessions of the console end too."""
        # One that is being replaced is waited for here: the statement after sees what replaced it.
        await self._tx.connection.execute(
            sa.select(console_session.c.key)
            .where(console_session.c.user_id == user_id)
            .order_by(console_session.c.key)
            .with_for_update()
        )
        await self._tx.connection.execute(
            sa.delete(console_session).where(console_session.c.user_id == user_id)
        )
        done = await self._tx.connection.execute(
            sa.update(user_token)
            .where(user_token.c.user_id == user_id, user_token.c.revoked_at.is_(None))
            .values(revoked_at=now)
        )
        return done.rowcount

    async def lock_listed_tokens(self, entity_id: str) -> ListedTokens:
        """Count what the revocation list has, and let no other call revoke for this entity."""
        # Not the entity's row: a suspension must not wait for those who revoke.
        await self._tx.lock_name(f"revoke:{entity_id}")
        now, c = await self._tx.now(), revoked_entity_token.c
        own = c.entity_id == entity_id
        found = await self._tx.connection.execute(
            sa.select(
                sa.func.count().filter(own),
                sa.func.count(),
                sa.func.min(c.expires_at).filter(own),
            ).where(c.expires_at > now)
        )
        of_entity, of_all, next_expiry = found.one()
        return ListedTokens(of_entity, of_all, next_expiry or now, now)

    async def revoke_entity_token(self, jti: str, entity_id: str, expires_at: datetime) -> bool:
        """Store an entity token as revoked; False when it was already."""
        # The driver reports no row count for an INSERT; RETURNING shows what was stored.
        stored = await self._tx.connection.scalar(
            _REVOKE_ENTITY_TOKEN,
            {
                "jti": jti,
                "entity_id": entity_id,
                "revoked_at": await self._tx.now(),
                "expires_at": expires_at,
            },
        )
        if stored is None:
            return False
        await self._tx.changing(revoked_key(jti), must_not_be_missed=True)
        return True

    async def entity_token_revoked(self, jti: str) -> bool:
        """Return whether an entity token was revoked."""
        return bool(await self.revoked_of([jti]))

    async def revoked_of(self, jtis: Collection[str]) -> frozenset[str]:
        """Return which of these entity tokens were revoked."""
        found = await self._tx.connection.scalars(_REVOKED_OF, {"requested": list(jtis)})
        return frozenset(found)

    async def entity_accepts(self, entity_id: str, issued_at: datetime) -> bool:
        """Return whether a token of the entity, issued then, is valid as far as the entity goes."""
        return await entity_accepts(self._tx, entity_id, issued_at)
