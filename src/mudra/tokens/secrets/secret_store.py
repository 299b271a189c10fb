"""Entity secrets in PostgreSQL."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Final, cast

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.dialects.postgresql import ARRAY

from mudra.shared.entity_type import EntityType
from mudra.shared.secret_text import SecretText
from mudra.storage.caching.cache_invalidation import entity_key
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.identity import entity
from mudra.storage.tables.registry import registry_version
from mudra.storage.tables.tokens import entity_secret
from mudra.tokens.ports import EntityCredentials, StoredSecret
from mudra.tokens.secrets.address_binding import AddressBinding, Network, is_enforced, networks_of
from mudra.tokens.secrets.registered_key_store import ips_of
from mudra.tokens.secrets.reset_rule import PERIOD
from mudra.tokens.secrets.secret import EntitySecret, Rotation, SecretState


class SecretHolding(Struct, frozen=True):
    """The secrets of an entity: its secrets and when it was reset, by the database's clock."""

    current: EntitySecret
    in_grace: EntitySecret | None
    resets: Sequence[datetime]
    now: datetime


_REMEMBERED_VERSIONS: Final = 8
"""How many previous secrets are still recognized, to report that their grace has ended."""

Row = Mapping[str, object]

_S: Final = entity_secret.c
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


class Secrets:
    """Entity secrets, encrypted for reading back and hashed under a key for checking."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction
        self._encryption = transaction.encryption

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


async def secrets_ending_before(transaction: Transaction, end: datetime) -> int:
    """Count the members that may get tokens, and have a current secret that ends before this."""
    c = entity_secret.c
    found = await transaction.connection.scalar(
        sa.select(sa.func.count())
        .select_from(entity_secret.join(entity, entity.c.entity_id == c.entity_id))
        .where(entity.c.status == "active", c.state == "current", c.expires_at <= end)
    )
    return int(found or 0)
