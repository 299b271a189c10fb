"""Signing keys looked after in one transaction: by the schedule, or by a command."""

import os
import secrets
from collections.abc import Callable
from datetime import datetime, timedelta

from mudra.audit.event import Caller
from mudra.runtime.wiring import Rooms
from mudra.storage.node_keys import new_key_material
from mudra.tokens.claims import TokenKind
from mudra.tokens.ports import KeyMaterial
from mudra.tokens.rotate_keys import KeyChange, drop_signing_key, keep_keys_ready


async def look_after_keys(
    rooms: Rooms, rotate_now: frozenset[TokenKind] = frozenset(), actor: str = ""
) -> list[KeyChange]:
    """Make, appoint, retire and destroy signing keys as is due."""
    async with rooms.open_work() as work:
        return await keep_keys_ready(
            work.keys,
            work.journal,
            Caller(actor or f"system:{os.uname().nodename}"),
            now=await work.people.now(),
            rotate_after=timedelta(days=rooms.settings.key_rotation_days),
            new_key=_maker(rooms),
            rotate_now=rotate_now,
        )


async def drop_key(rooms: Rooms, kind: TokenKind, caller: Caller) -> list[KeyChange]:
    """Emergency: drop the signing key of a kind, and every token that it signed."""
    async with rooms.open_work() as work:
        return await drop_signing_key(
            kind,
            work.keys,
            work.journal,
            caller,
            now=await work.people.now(),
            new_key=_maker(rooms),
        )


def _maker(rooms: Rooms) -> Callable[[TokenKind], KeyMaterial]:
    bits = rooms.settings.signing_key_bits
    return lambda kind: new_key_material(kind, bits, lambda: _new_kid(rooms.clock()))


def _new_kid(now: datetime) -> str:
    """Name a key so that people can tell keys apart by age."""
    return f"{now:%Y%m%d}-{secrets.token_hex(6)}"
