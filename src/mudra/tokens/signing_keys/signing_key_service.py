"""List signing keys, and make, appoint, retire and destroy them."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.shared.refusal import Refusal, RefusalKind
from mudra.storage.database.transaction import Transaction
from mudra.tokens.claims import TokenKind
from mudra.tokens.ports import KeyMaterial, NewKey
from mudra.tokens.signing_keys.key_fetch_store import KeyFetch, KeyFetches
from mudra.tokens.signing_keys.key_lifecycle import (
    Handover,
    KeyState,
    SigningKey,
    at_once,
    plan,
    succession,
    were_all_just_dropped,
)
from mudra.tokens.signing_keys.signing_key_store import SigningKeys

KEY_CHANGE_S: Final = 60.0
"""A transaction may take so long: making RSA keys takes seconds, and proves no hung database."""


class KeyChange(Struct, frozen=True):
    """One thing that was done: the key, and what happens to it at what time."""

    kid: str
    kind: TokenKind
    event: EventName
    at: datetime


class UnknownKey(Refusal, frozen=True):
    """No signing key of these kinds has the ID."""

    kind = RefusalKind.NOT_FOUND
    sentence = "kid: no signing key of this kind has this ID"
    kid: str


class KeyDetails(Struct, frozen=True):
    """A key with its state, and who fetched it how often."""

    key: SigningKey
    state: KeyState
    fetches: Sequence[KeyFetch]


class SigningKeyService(Struct, frozen=True):
    """The acts of jobs and operators on signing keys, in the caller's transaction."""

    tx: Transaction
    new_key: NewKey
    rotate_after: timedelta

    async def list(self, now: datetime) -> Sequence[KeyDetails]:
        """List all keys, the oldest first."""
        fetches = await KeyFetches(self.tx).fetches()
        return [
            KeyDetails(key, key.state(now), [one for one in fetches if one.kid == key.kid])
            for key in await SigningKeys(self.tx).all_keys()
        ]

    async def maintain(
        self, caller: Caller, now: datetime, rotate_now: frozenset[TokenKind] = frozenset()
    ) -> Sequence[KeyChange]:
        """Make, appoint, retire and destroy what is due; idempotent; one node at a time."""
        known = await SigningKeys(self.tx).locked_keys()
        changes: list[KeyChange] = []
        for kind in TokenKind:
            due = plan(
                [key for key in known if key.kind is kind],
                now,
                rotate_after=self.rotate_after,
                rotate_now=kind in rotate_now,
            )
            # Made first: no node may wait for a key to be made while the change is announced.
            active = await self.new_key(kind) if due.make_active else None
            pending = await self.new_key(kind) if due.make_pending else None
            if due.handover is not None:
                changes += await self._hand_over(due.handover, caller)
            if active is not None:
                changes.append(await self._keep(active, caller, now, active_from=at_once(now)))
            if pending is not None:
                changes.append(await self._keep(pending, caller, now))
            for kid in due.destroy_private:
                if await SigningKeys(self.tx).destroy_private(kid):
                    event = EventName.KEYS_SIGNING_DESTROY
                    changes.append(await self._record(KeyChange(kid, kind, event, now), caller))
        return changes

    async def rotate(
        self, kinds: frozenset[TokenKind], caller: Caller, now: datetime, *, emergency: bool
    ) -> Sequence[KeyChange]:
        """Let the next keys sign; in an emergency drop the current ones with all their tokens."""
        if not emergency:
            return await self.maintain(caller, now, kinds)
        known = await SigningKeys(self.tx).locked_keys()
        current = [key for key in known if key.kind in kinds and key.state(now) is KeyState.ACTIVE]
        return await self._drop(current, known, caller, now)

    async def drop(
        self, kids: Collection[str], caller: Caller, now: datetime
    ) -> Sequence[KeyChange]:
        """Drop these keys, as far as they are here and not dropped yet, with all their tokens."""
        if not kids:
            return ()
        known = await SigningKeys(self.tx).locked_keys()
        found = [key for key in known if key.kid in kids and key.revoked_at is None]
        return await self._drop(found, known, caller, now)

    async def drop_key(
        self, kid: str, kinds: frozenset[TokenKind], caller: Caller, now: datetime
    ) -> Sequence[KeyChange] | UnknownKey:
        """Drop one key in whatever state it is; nothing changes where it was dropped already."""
        known = await SigningKeys(self.tx).locked_keys()
        named = [key for key in known if key.kid == kid and key.kind in kinds]
        if not named:
            return UnknownKey(kid)
        found = [key for key in named if key.revoked_at is None]
        return await self._drop(found, known, caller, now)

    async def drop_all(
        self,
        kinds: frozenset[TokenKind],
        caller: Caller,
        now: datetime,
        *,
        again: bool = False,
    ) -> Sequence[KeyChange]:
        """Drop every own key of these kinds and make new ones: a copy of the keys was read.

        Keys that have left the JWK Set too: a restore brings back as signing what was then.
        Nothing changes for a kind whose keys were all dropped moments ago, unless it is `again`.
        """
        known = await SigningKeys(self.tx).locked_keys()
        due = [
            kind
            for kind in kinds
            if again or not were_all_just_dropped([one for one in known if one.kind is kind], now)
        ]
        own = [key for key in known if key.kind in due and not key.issuer]
        return await self._drop([key for key in own if key.revoked_at is None], known, caller, now)

    async def _drop(
        self,
        dropped: Sequence[SigningKey],
        known: Sequence[SigningKey],
        caller: Caller,
        now: datetime,
    ) -> Sequence[KeyChange]:
        """Drop keys; where none of those left signs, appoint or make one that does.

        The pending key takes over before its time; verifiers that cache reject its
        tokens until they have fetched it, which is the lesser evil.
        """
        if not dropped:
            return ()
        gone = {key.kid for key in dropped}
        nexts = [
            succession(kind, [key for key in known if key.kid not in gone], now)
            for kind in sorted({key.kind for key in dropped})
        ]
        # Made first: no node may wait for a key to be made while the change is announced.
        active = [await self.new_key(of.kind) for of in nexts if of.make_active]
        pending = [await self.new_key(of.kind) for of in nexts if of.make_pending]
        await SigningKeys(self.tx).revoke(gone, now)
        event = EventName.KEYS_SIGNING_DROP
        changes = [
            await self._record(KeyChange(key.kid, key.kind, event, now), caller) for key in dropped
        ]
        for of in nexts:
            if (key := of.signs_on) is not None:
                await SigningKeys(self.tx).retire(key.kid, None)
                changes.append(await self._signs(key, key.active_from or now, caller))
            if (key := of.appoint) is not None:
                await SigningKeys(self.tx).appoint(key.kid, at_once(now))
                changes.append(await self._signs(key, now, caller))
        signs_from = at_once(now)
        changes += [await self._keep(of, caller, now, active_from=signs_from) for of in active]
        changes += [await self._keep(of, caller, now) for of in pending]
        return changes

    async def _signs(self, key: SigningKey, at: datetime, caller: Caller) -> KeyChange:
        change = KeyChange(key.kid, key.kind, EventName.KEYS_SIGNING_ACTIVATE, at)
        return await self._record(change, caller)

    async def _hand_over(self, handover: Handover, caller: Caller) -> Sequence[KeyChange]:
        previous, following, at = handover.previous, handover.following, handover.at
        await SigningKeys(self.tx).retire(previous.kid, at)
        await SigningKeys(self.tx).appoint(following.kid, at)
        return [
            await self._record(KeyChange(key.kid, key.kind, event, at), caller)
            for key, event in (
                (previous, EventName.KEYS_SIGNING_RETIRE),
                (following, EventName.KEYS_SIGNING_ACTIVATE),
            )
        ]

    async def _keep(
        self,
        material: KeyMaterial,
        caller: Caller,
        now: datetime,
        *,
        active_from: datetime | None = None,
    ) -> KeyChange:
        key = SigningKey(
            kid=material.kid,
            kind=material.kind,
            created_at=now,
            active_from=active_from,
            retires_at=None,
            public_jwk=material.public_jwk,
        )
        await SigningKeys(self.tx).keep(key, material.private_pem)
        return await self._record(
            KeyChange(key.kid, key.kind, EventName.KEYS_SIGNING_CREATE, now), caller
        )

    async def _record(self, change: KeyChange, caller: Caller) -> KeyChange:
        detail = {"kid": change.kid, "kind": change.kind.value, "at": change.at.isoformat()}
        await AuditLog(self.tx).append(AuditEntry(change.event, caller, detail=detail))
        return change
