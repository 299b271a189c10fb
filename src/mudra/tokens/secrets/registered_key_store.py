"""Members' live keys, and which client assertions they used."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, cast

import msgspec
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from mudra.identity.memberships.member import MemberStatus
from mudra.registry.payload.entry import read_canonical
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.identity import entity
from mudra.storage.tables.registry import registry_version
from mudra.storage.tables.tokens import used_assertion

_V: Final = registry_version.c
_LIVE_BODY: Final = sa.select(_V.body).where(
    _V.entity_id == sa.bindparam("entity_id"), _V.status == "live"
)
_LIVE_OF_ACTIVE: Final = _LIVE_BODY.join(entity, entity.c.entity_id == _V.entity_id).where(
    entity.c.status == MemberStatus.ACTIVE.value
)
_USE_ASSERTION: Final = (
    insert(used_assertion).on_conflict_do_nothing().returning(used_assertion.c.jti)
)


class _Info(msgspec.Struct):
    ips: list[str] | None = None


class _Listed(msgspec.Struct):
    entityinfo: _Info


def ips_of(body: bytes) -> Sequence[str]:
    """Return the `ips` of an entry in its canonical form."""
    return msgspec.json.decode(body, type=_Listed).entityinfo.ips or ()


class RegisteredKeys:
    """Implements `RegisteredKeys`."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def live_key(self, entity_id: str) -> Mapping[str, str] | None:
        """Return the key of an active entity's live entry as a JWK; None without such an entry.

        The version stays live while its entity is suspended, and gets no token then.
        """
        body = await self._tx.connection.scalar(_LIVE_OF_ACTIVE, {"entity_id": entity_id})
        if body is None:
            return None
        certificate = read_canonical(cast("bytes", body)).entityinfo.certificate
        return cast("Mapping[str, str]", msgspec.to_builtins(certificate))

    async def listed_addresses(self, entity_id: str) -> Sequence[str]:
        """Return the `ips` of the entity's live entry; none without such an entry."""
        body = await self._tx.connection.scalar(_LIVE_BODY, {"entity_id": entity_id})
        return () if body is None else ips_of(cast("bytes", body))

    async def live_addresses(self) -> Mapping[str, Sequence[str]]:
        """Return the `ips` of all live entries by entity."""
        rows = await self._tx.connection.execute(
            sa.select(_V.entity_id, _V.body).where(_V.status == "live")
        )
        return {entity_id: ips_of(cast("bytes", body)) for entity_id, body in rows}

    async def use_assertion(self, entity_id: str, jti: str, expires_at: datetime) -> bool:
        """Store that an assertion was used; False when it was already."""
        stored = await self._tx.connection.scalar(
            _USE_ASSERTION, {"entity_id": entity_id, "jti": jti, "expires_at": expires_at}
        )
        return stored is not None
