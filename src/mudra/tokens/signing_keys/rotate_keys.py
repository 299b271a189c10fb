"""Carry out what the life of signing keys asks for (quality K1 to K4)."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from msgspec import Struct

from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.audit.ports import AuditLog
from mudra.tokens.issuing.claims import TokenKind
from mudra.tokens.ports import KeyMaterial, SigningKeys
from mudra.tokens.signing_keys import key_lifecycle as signing_keys
from mudra.tokens.signing_keys.key_lifecycle import Handover, KeyState, SigningKey

NewKey = Callable[[TokenKind], KeyMaterial]
"""Makes a key pair; slow (tens to hundreds of ms)."""


class KeyChange(Struct, frozen=True):
    """One thing that was done: the key, and what happened to it at what time."""

    kid: str
    kind: TokenKind
    event: EventName
    at: datetime


@dataclass
class _Rotation:
    keys: SigningKeys
    journal: AuditLog
    caller: Caller
    now: datetime
    changes: list[KeyChange]

    async def note(self, kid: str, kind: TokenKind, event: EventName, at: datetime) -> None:
        self.changes.append(KeyChange(kid, kind, event, at))
        await self.journal.note(
            AuditEntry(
                event, self.caller, detail={"kid": kid, "kind": kind.value, "at": at.isoformat()}
            )
        )

    async def make(self, material: KeyMaterial, active_from: datetime | None) -> None:
        key = SigningKey(
            kid=material.kid,
            kind=material.kind,
            created_at=self.now,
            active_from=active_from,
            retires_at=None,
            public_jwk=material.public_jwk,
        )
        await self.keys.keep(key, material.private_pem)
        await self.note(key.kid, key.kind, EventName.KEYS_SIGNING_CREATE, self.now)

    async def hand_over(self, handover: Handover) -> None:
        await self.keys.retire(handover.former.kid, handover.at)
        await self.keys.appoint(handover.following.kid, handover.at)
        kind = handover.former.kind
        await self.note(handover.former.kid, kind, EventName.KEYS_SIGNING_RETIRE, handover.at)
        await self.note(handover.following.kid, kind, EventName.KEYS_SIGNING_ACTIVATE, handover.at)


async def keep_keys_ready(  # its collaborators, each named
    keys: SigningKeys,
    journal: AuditLog,
    caller: Caller,
    *,
    now: datetime,
    rotate_after: timedelta,
    new_key: NewKey,
    rotate_now: frozenset[TokenKind] = frozenset(),
) -> list[KeyChange]:
    """Make, appoint, retire and destroy what is due; idempotent; one node at a time."""
    known = await keys.locked_keys()
    work = _Rotation(keys, journal, caller, now, [])
    for kind in TokenKind:
        mine = [key for key in known if key.kind is kind]
        due = signing_keys.plan(mine, now, rotate_after=rotate_after, rotate_now=kind in rotate_now)
        if due.handover is not None:
            await work.hand_over(due.handover)
        if due.make_active:
            await work.make(new_key(kind), now)
        if due.make_pending:
            await work.make(new_key(kind), None)
        for kid in due.destroy_private:
            if await keys.destroy_private(kid):
                await work.note(kid, kind, EventName.KEYS_SIGNING_DESTROY, now)
    return work.changes


async def drop_signing_key(
    kind: TokenKind,
    keys: SigningKeys,
    journal: AuditLog,
    caller: Caller,
    *,
    now: datetime,
    new_key: NewKey,
) -> list[KeyChange]:
    """Emergency: drop the signing key of a kind at once, and every token that it signed.

    The waiting key takes over unripe; verifiers that cache refuse its tokens
    until they have fetched it, which is the lesser evil.
    """
    known = await keys.locked_keys()
    work = _Rotation(keys, journal, caller, now, [])
    for key in known:
        if key.kind is kind and key.state(now) is KeyState.ACTIVE:
            await keys.revoke(key.kid, now)
            await work.note(key.kid, kind, EventName.KEYS_SIGNING_DROP, now)
    waiting = [k for k in known if k.kind is kind and k.state(now) is KeyState.PENDING]
    if waiting:
        first = min(waiting, key=lambda key: key.created_at)
        await keys.appoint(first.kid, now)
        await work.note(first.kid, kind, EventName.KEYS_SIGNING_ACTIVATE, now)
    else:
        await work.make(new_key(kind), now)
    await work.make(new_key(kind), None)
    return work.changes
