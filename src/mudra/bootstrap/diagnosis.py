"""The checks of `mudra doctor`, from the settings to the invariants of the data."""

import os
import shutil
import stat
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Final

import sqlalchemy as sa

from mudra.bootstrap.clock import ServiceClock
from mudra.bootstrap.config import Settings, unknown_names
from mudra.bootstrap.dependencies import Dependencies
from mudra.bootstrap.local_store import in_store
from mudra.cli.local.program import CommandFailed
from mudra.overview.diagnosis import Diagnosis
from mudra.storage.crypto.master_key import FILE
from mudra.storage.database.tables import entity, entity_secret, mail_outbox
from mudra.storage.tokens.signing_keys import PostgresSigningKeys
from mudra.tokens.issuing.claims import TokenKind
from mudra.tokens.signing_keys.key_lifecycle import signing

_MIN_FREE: Final = 1 << 30
_MAX_CLOCK_OFFSET: Final = timedelta(seconds=1)
_MAX_MAIL_WAIT: Final = timedelta(hours=1)


def diagnose(settings: Settings) -> Sequence[Diagnosis]:
    """Run every check; a database that cannot be opened is one that failed."""
    found = [*_settings_check(), *_disk(settings), *_master_key(settings)]
    try:
        return [*found, *in_store(settings, _examine)]
    except CommandFailed as failed:
        return [*found, Diagnosis("database", passed=False, text=str(failed))]


def _settings_check() -> list[Diagnosis]:
    unknown = unknown_names(os.environ)
    return [Diagnosis("settings", not unknown, "; ".join(unknown) or "all known")]


def _disk(settings: Settings) -> list[Diagnosis]:
    free = shutil.disk_usage(settings.data_dir if settings.data_dir.exists() else ".").free
    text = f"{free / (1 << 30):.1f} GiB free"
    passed = free >= _MIN_FREE
    return [Diagnosis("disk", passed, text if passed else f"{text}: make room, at least 1 GiB")]


def _master_key(settings: Settings) -> list[Diagnosis]:
    path = settings.data_dir / FILE
    if not path.exists():
        return [
            Diagnosis(
                "master key", passed=True, text="not a file: from the environment or a command"
            )
        ]
    mode = stat.S_IMODE(path.stat().st_mode)
    passed = mode & 0o077 == 0
    text = f"{path}, mode {mode:04o}"
    return [Diagnosis("master key", passed, text if passed else f"{text}: run chmod 600 {path}")]


async def _examine(dependencies: Dependencies) -> list[Diagnosis]:
    checks: list[Callable[[Dependencies], Awaitable[Diagnosis]]] = [
        _clock,
        _signing_keys,
        _secrets,
        _one_secret_each,
        _mail,
    ]
    return [await check(dependencies) for check in checks]


async def _clock(dependencies: Dependencies) -> Diagnosis:
    before = ServiceClock()()
    async with dependencies.database.transaction() as transaction:
        theirs = await transaction.connection.scalar(sa.select(sa.func.clock_timestamp()))
    assert isinstance(theirs, datetime)
    off = abs(theirs - before)
    text = f"{off.total_seconds() * 1000:.0f} ms between this machine and the database"
    return Diagnosis(
        "clock", off < _MAX_CLOCK_OFFSET, text if off < _MAX_CLOCK_OFFSET else f"{text}: set up NTP"
    )


async def _signing_keys(dependencies: Dependencies) -> Diagnosis:
    async with dependencies.database.transaction() as transaction:
        store = PostgresSigningKeys(transaction, dependencies.encryption)
        keys, private = await store.all_keys(), await store.private_parts()
        now = await transaction.now()
    missing = [
        kind.value
        for kind in TokenKind
        if (key := signing(keys, kind, now)) is None or key.kid not in private
    ]
    if missing:
        return Diagnosis(
            "signing keys",
            passed=False,
            text=f"no key signs {' and '.join(missing)} tokens: "
            "start the service, or run mudra keys rotate",
        )
    return Diagnosis("signing keys", passed=True, text=f"{len(keys)} known, one signs each kind")


async def _secrets(dependencies: Dependencies) -> Diagnosis:
    async with dependencies.unit_of_work() as work:
        members = await work.people.members()
        for member in members:
            holding = await work.secrets.held(member.entity_id)
            if holding is not None:
                await work.secrets.text_of(holding.current)
    return Diagnosis("secrets", passed=True, text=f"{len(members)} can be decrypted")


async def _one_secret_each(dependencies: Dependencies) -> Diagnosis:
    """Every entity has exactly one current secret (quality S1)."""
    current = sa.select(entity_secret.c.entity_id).where(entity_secret.c.state == "current")
    async with dependencies.database.transaction() as transaction:
        without = (
            await transaction.connection.scalars(
                sa.select(entity.c.entity_id).where(entity.c.entity_id.not_in(current)).limit(5)
            )
        ).all()
    if without:
        return Diagnosis(
            "invariants", passed=False, text=f"no current secret: {', '.join(without)}"
        )
    return Diagnosis("invariants", passed=True, text="every entity has one current secret")


async def _mail(dependencies: Dependencies) -> Diagnosis:
    if dependencies.settings.smtp_url is None:
        return Diagnosis("mail", passed=True, text="no mail server set: emails stay in the mailbox")
    async with dependencies.database.transaction() as transaction:
        now = await transaction.now()
        waiting = await transaction.connection.scalar(
            sa.select(sa.func.count())
            .select_from(mail_outbox)
            .where(mail_outbox.c.sent_at.is_(None), mail_outbox.c.created_at < now - _MAX_MAIL_WAIT)
        )
    if waiting:
        return Diagnosis(
            "mail",
            passed=False,
            text=f"{waiting} emails have waited for over an hour: see mudra mail list",
        )
    return Diagnosis("mail", passed=True, text="no email has waited for over an hour")
