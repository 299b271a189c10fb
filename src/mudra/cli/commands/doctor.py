"""mudra doctor: is everything as it should be, and if not, what to do."""

import os
import shutil
import stat
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Final

import sqlalchemy as sa
import typer
from msgspec import Struct

from mudra.bootstrap.clock import ServiceClock
from mudra.bootstrap.config import Settings, unknown_names
from mudra.bootstrap.dependencies import Dependencies
from mudra.cli.local.opening import StoreClosed
from mudra.cli.local.settings import AsJson, DataDir, settings_of
from mudra.cli.local.store import in_store
from mudra.cli.output.output import Exit, show_json
from mudra.storage.crypto.master_key import FILE
from mudra.storage.database.tables import entity, entity_secret, mail_outbox
from mudra.storage.tokens.signing_keys import PostgresSigningKeys
from mudra.tokens.issuing.claims import TokenKind
from mudra.tokens.signing_keys.key_lifecycle import signing

_MIN_FREE: Final = 1 << 30
_CLOCK_OFF: Final = timedelta(seconds=1)
_MAIL_WAITS: Final = timedelta(hours=1)


class Finding(Struct, frozen=True):
    """One check: whether it is well, and the way out when it is not."""

    name: str
    well: bool
    text: str


def doctor(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Check settings, disk, master key, database, clock, signing keys, mail and invariants.

    Exits with 1 when something is wrong, and says what to do about it.
    """
    settings = settings_of(data_dir)
    findings = [*_settings(), *_disk(settings), *_master_key(settings)]
    try:
        findings += in_store(_examine, data_dir)
    except StoreClosed as closed:
        findings.append(Finding("database", False, str(closed)))
    if as_json:
        show_json([{"check": f.name, "ok": f.well, "text": f.text} for f in findings])
    else:
        for finding in findings:
            typer.echo(f"{'ok  ' if finding.well else 'FAIL'}  {finding.name}: {finding.text}")
    if not all(finding.well for finding in findings):
        raise typer.Exit(int(Exit.FAILED))


def _settings() -> list[Finding]:
    unknown = unknown_names(os.environ)
    return [Finding("settings", not unknown, "; ".join(unknown) or "all known")]


def _disk(settings: Settings) -> list[Finding]:
    free = shutil.disk_usage(settings.data_dir if settings.data_dir.exists() else ".").free
    text = f"{free / (1 << 30):.1f} GiB free"
    well = free >= _MIN_FREE
    return [Finding("disk", well, text if well else f"{text}: make room, at least 1 GiB")]


def _master_key(settings: Settings) -> list[Finding]:
    path = settings.data_dir / FILE
    if not path.exists():
        return [Finding("master key", True, "not a file: from the environment or a command")]
    mode = stat.S_IMODE(path.stat().st_mode)
    well = mode & 0o077 == 0
    text = f"{path}, mode {mode:04o}"
    return [Finding("master key", well, text if well else f"{text}: run chmod 600 {path}")]


async def _examine(dependencies: Dependencies) -> list[Finding]:
    checks: list[Callable[[Dependencies], Awaitable[Finding]]] = [
        _clock,
        _signing_keys,
        _sealed_values,
        _one_secret_each,
        _mail,
    ]
    return [await check(dependencies) for check in checks]


async def _clock(dependencies: Dependencies) -> Finding:
    before = ServiceClock()()
    async with dependencies.database.transaction() as transaction:
        there = await transaction.connection.scalar(sa.select(sa.func.clock_timestamp()))
    assert isinstance(there, datetime)
    off = abs(there - before)
    text = f"{off.total_seconds() * 1000:.0f} ms between this machine and the database"
    return Finding("clock", off < _CLOCK_OFF, text if off < _CLOCK_OFF else f"{text}: set up NTP")


async def _signing_keys(dependencies: Dependencies) -> Finding:
    async with dependencies.database.transaction() as transaction:
        store = PostgresSigningKeys(transaction, dependencies.seal)
        keys, private = await store.all_keys(), await store.private_parts()
        now = await transaction.now()
    missing = [
        kind.value
        for kind in TokenKind
        if (key := signing(keys, kind, now)) is None or key.kid not in private
    ]
    if missing:
        return Finding(
            "signing keys",
            False,
            f"none signs {' and '.join(missing)} tokens: start the service, or mudra keys rotate",
        )
    return Finding("signing keys", True, f"{len(keys)} known, one signs each kind")


async def _sealed_values(dependencies: Dependencies) -> Finding:
    async with dependencies.unit_of_work() as work:
        members = await work.people.members()
        for member in members:
            holding = await work.secrets.held(member.entity_id)
            if holding is not None:
                await work.secrets.text_of(holding.current)
    return Finding("secrets", True, f"{len(members)} can be unsealed")


async def _one_secret_each(dependencies: Dependencies) -> Finding:
    """Every entity has exactly one current secret (quality S1)."""
    current = sa.select(entity_secret.c.entity_id).where(entity_secret.c.state == "current")
    async with dependencies.database.transaction() as transaction:
        without = (
            await transaction.connection.scalars(
                sa.select(entity.c.entity_id).where(entity.c.entity_id.not_in(current)).limit(5)
            )
        ).all()
    if without:
        return Finding("invariants", False, f"no current secret: {', '.join(without)}")
    return Finding("invariants", True, "every entity has one current secret")


async def _mail(dependencies: Dependencies) -> Finding:
    if dependencies.settings.smtp_url is None:
        return Finding("mail", True, "no mail server set: mails stay in the mailbox")
    async with dependencies.database.transaction() as transaction:
        now = await transaction.now()
        waiting = await transaction.connection.scalar(
            sa.select(sa.func.count())
            .select_from(mail_outbox)
            .where(mail_outbox.c.sent_at.is_(None), mail_outbox.c.created_at < now - _MAIL_WAITS)
        )
    if waiting:
        return Finding("mail", False, f"{waiting} mails wait for over an hour: see mudra mail list")
    return Finding("mail", True, "no mail waits for long")
