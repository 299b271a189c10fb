"""Signing keys looked after in one transaction: by the schedule, by a command, by an operator."""

import asyncio
import os
import secrets
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from datetime import datetime, timedelta
from typing import Final, Protocol

from mudra.audit.event import Caller
from mudra.bootstrap.config import Settings
from mudra.storage.tokens.node_keys import new_key_material
from mudra.tokens.issuing.claims import TokenKind
from mudra.tokens.ports import KeyMaterial
from mudra.tokens.signing_keys.rotate_keys import KeyChange, drop_signing_key, keep_keys_ready
from mudra.unit_of_work import UnitOfWork

_MAKING_S: Final = 60.0
"""Making RSA keys blocks this process for up to seconds: no sign of a hung database."""


class KeyDependencies(Protocol):
    """What of this process is needed to look after keys."""

    @property
    def settings(self) -> Settings:
        """The settings in force."""

    @property
    def clock(self) -> Callable[[], datetime]:
        """The service's clock."""

    def unit_of_work(self, *, within_s: float) -> AbstractAsyncContextManager[UnitOfWork]:
        """Open a transaction with all its ports; it must end `within_s` seconds."""


async def maintain_keys(
    dependencies: KeyDependencies, rotate_now: frozenset[TokenKind] = frozenset(), actor: str = ""
) -> list[KeyChange]:
    """Make, appoint, retire and destroy signing keys as is due."""
    caller = Caller(actor or f"system:{os.uname().nodename}")
    return await _keep_ready(dependencies, rotate_now, caller, _maker(dependencies))


async def rotate_keys(
    dependencies: KeyDependencies, kinds: frozenset[TokenKind], caller: Caller, *, emergency: bool
) -> list[KeyChange]:
    """Let the next keys sign; in an emergency drop the present ones with all their tokens.

    For a process that answers requests: the keys are made in a thread beforehand.
    """
    made = {kind: await asyncio.to_thread(_maker(dependencies), kind) for kind in kinds}
    if not emergency:
        return await _keep_ready(
            dependencies, kinds, caller, _made_before(made, _maker(dependencies))
        )
    changes: list[KeyChange] = []
    for kind in sorted(kinds):
        changes += await drop_key(
            dependencies, kind, caller, _made_before(made, _maker(dependencies))
        )
    return changes


async def drop_key(
    dependencies: KeyDependencies,
    kind: TokenKind,
    caller: Caller,
    new_key: Callable[[TokenKind], KeyMaterial] | None = None,
) -> list[KeyChange]:
    """Emergency: drop the signing key of a kind, and every token that it signed."""
    async with dependencies.unit_of_work(within_s=_MAKING_S) as work:
        return await drop_signing_key(
            kind,
            work.keys,
            work.journal,
            caller,
            now=await work.people.now(),
            new_key=new_key or _maker(dependencies),
        )


async def _keep_ready(
    dependencies: KeyDependencies,
    rotate_now: frozenset[TokenKind],
    caller: Caller,
    new_key: Callable[[TokenKind], KeyMaterial],
) -> list[KeyChange]:
    async with dependencies.unit_of_work(within_s=_MAKING_S) as work:
        return await keep_keys_ready(
            work.keys,
            work.journal,
            caller,
            now=await work.people.now(),
            rotate_after=timedelta(days=dependencies.settings.key_rotation_days),
            new_key=new_key,
            rotate_now=rotate_now,
        )


def _made_before(
    made: Mapping[TokenKind, KeyMaterial], maker: Callable[[TokenKind], KeyMaterial]
) -> Callable[[TokenKind], KeyMaterial]:
    """Hand out each key that was made beforehand once, and make what is wanted beyond."""
    left = dict(made)
    return lambda kind: left.pop(kind) if kind in left else maker(kind)


def _maker(dependencies: KeyDependencies) -> Callable[[TokenKind], KeyMaterial]:
    bits = dependencies.settings.signing_key_bits
    return lambda kind: new_key_material(kind, bits, lambda: _new_kid(dependencies.clock()))


def _new_kid(now: datetime) -> str:
    """Name a key so that people can tell keys apart by age."""
    return f"{now:%Y%m%d}-{secrets.token_hex(6)}"
