"""The checks of `mudra doctor`, from the settings to the invariants of the data."""

import os
import shutil
import stat
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Final

import psycopg
import sqlalchemy as sa

from mudra.audit.audit_chain import AuditChain
from mudra.audit.horizon_store import sealing_delay
from mudra.audit.proof.sealing import copy_checkpoints
from mudra.audit.proof.verification import MAX_WAIT
from mudra.bootstrap.clock import ServiceClock
from mudra.bootstrap.config import unknown_names
from mudra.bootstrap.dependencies import Dependencies
from mudra.bootstrap.diagnosis.certificates import certificates
from mudra.bootstrap.diagnosis.copies import backup, replica, restore, standbys
from mudra.bootstrap.diagnosis.installation import installation, metrics_blocks, postgresql
from mudra.bootstrap.diagnosis.room import forecast, queues
from mudra.bootstrap.local_store import in_store
from mudra.cli.local.program import CommandFailed
from mudra.identity.accounts.people_store import People
from mudra.identity.passkeys.relying_party import relying_party
from mudra.localization.catalogue import CatalogueError
from mudra.localization.languages import Languages
from mudra.mail.server_check import mail_server_fault
from mudra.overview.administration import Diagnosis
from mudra.settings.settings import Settings
from mudra.storage.crypto.keyring import CiphertextInvalid, MasterVersionMissing
from mudra.storage.crypto.master_key import FILE
from mudra.storage.crypto.sealed_values import COLUMNS, count_readable, master_versions
from mudra.storage.database.database import MAX_CONNECTIONS
from mudra.storage.database.schema.roles import excess_rights
from mudra.storage.database.server.running import running_processes
from mudra.storage.tables.identity import entity
from mudra.storage.tables.service import mail_outbox
from mudra.storage.tables.tokens import entity_secret
from mudra.tokens.claims import TokenKind
from mudra.tokens.secrets.address_binding import WATCHED_DAYS
from mudra.tokens.secrets.foreign_addresses import report_addresses
from mudra.tokens.secrets.registered_key_store import RegisteredKeys
from mudra.tokens.secrets.secret_use_store import SecretUses
from mudra.tokens.signing_keys.key_lifecycle import signing
from mudra.tokens.signing_keys.signing_key_store import SigningKeys

MIN_FREE: Final = 1 << 30
"""Bytes; the chart asks for a volume of several times as much."""
_MAX_CLOCK_OFFSET: Final = timedelta(seconds=1)
_DIRECT_EACH: Final = 3
"""Connections of a process that listen, announce or lock, without a pooler."""
_POOL: Final = 20
"""Server connections that are enough behind PgBouncer: transactions take milliseconds."""
_MAX_MAIL_WAIT: Final = timedelta(hours=1)


def diagnose(settings: Settings) -> Sequence[Diagnosis]:
    """Run every check; a database that cannot be opened is one that failed."""
    found = [
        *_settings_check(),
        *_disk(settings),
        *_master_key(settings),
        *_two_operators(settings),
        _passkeys(settings),
        _languages(settings),
        certificates(settings, ServiceClock()()),
        installation(),
    ]
    try:
        return [*found, *in_store(settings, _examine)]
    except CommandFailed as failed:
        return [*found, Diagnosis("database", passed=False, text=str(failed))]


def _settings_check() -> list[Diagnosis]:
    unknown = unknown_names(os.environ)
    return [Diagnosis("settings", not unknown, "; ".join(unknown) or "all known")]


def _two_operators(settings: Settings) -> list[Diagnosis]:
    if settings.sandbox:
        return []
    alone = settings.one_operator_decides
    text = (
        "one operator alone can change a member's key: add a second operator and remove "
        "MUDRA_REGISTRY_ONE_OPERATOR"
        if alone
        else "another operator approves what an operator submits"
    )
    return [Diagnosis("registry", not alone, text)]


def _passkeys(settings: Settings) -> Diagnosis:
    party = relying_party(settings.issuer)
    text = (
        f"for {party.rp_id}, on pages of {party.origin} alone"
        if party
        else (
            f"off: they need a host name with https, and {settings.issuer} has none; "
            "set MUDRA_BASE_URL to one"
        )
    )
    return Diagnosis("passkeys", passed=True, text=text)


def _languages(settings: Settings) -> Diagnosis:
    languages = Languages(settings.locales_dir, settings.language)
    try:
        languages.check()
        lacking = languages.missing()
    except CatalogueError as error:
        return Diagnosis("languages", passed=False, text=str(error))
    counts = [
        f"{tag} (lacks {count} messages, shown in English)" if count else f"{tag} (complete)"
        for tag, count in lacking.items()
    ]
    return Diagnosis("languages", passed=True, text=", ".join(["en", *counts]))


def _disk(settings: Settings) -> list[Diagnosis]:
    free = shutil.disk_usage(settings.data_dir if settings.data_dir.exists() else ".").free
    text = f"{free / (1 << 30):.1f} GiB free"
    passed = free >= MIN_FREE
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
        postgresql,
        _roles,
        _clock,
        _signing_keys,
        _secrets,
        _one_secret_each,
        _mail,
        queues,
        forecast,
        metrics_blocks,
        _audit,
        backup,
        restore,
        _connections,
        standbys,
        _addresses,
    ]
    if dependencies.settings.database_replica_url is not None:
        checks.append(replica)
    return [await check(dependencies) for check in checks]


async def _roles(dependencies: Dependencies) -> Diagnosis:
    """The service's role has no right that an attacker who speaks SQL through it could use."""
    with psycopg.connect(dependencies.database.conninfo, connect_timeout=5) as connection:
        excess = excess_rights(connection)
    text = "the service's role owns nothing"
    if excess:
        text = (
            f"the service's role may {', '.join(excess)}: run mudra database prepare "
            "(docs/how-to/prepare-the-database.md)"
        )
    return Diagnosis("database roles", not excess, text)


async def _addresses(dependencies: Dependencies) -> Diagnosis:
    """Count what the binding to listed addresses refuses, or would have refused lately."""
    async with dependencies.transaction() as tx:
        since = await People(tx).now() - timedelta(days=WATCHED_DAYS)
        report = report_addresses(
            await SecretUses(tx).since(since), await RegisteredKeys(tx).live_addresses()
        )
    mode = "enforced" if dependencies.settings.addresses_enforced else "watched"
    text = f"{mode}: {len(report.foreign)} of the last {WATCHED_DAYS} days are in no entry" + (
        ", see mudra registry addresses" if report.foreign else ""
    )
    return Diagnosis("addresses", passed=True, text=text)


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
        store = SigningKeys(transaction)
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
    """Decrypt all but emails, which are many and of no use later."""
    keyring = dependencies.encryption.keyring
    checked = [sealed for sealed in COLUMNS if sealed.column.table is not mail_outbox]
    try:
        count = sum(
            [
                await count_readable(dependencies.database.transaction, keyring, sealed)
                for sealed in checked
            ]
        )
    except (CiphertextInvalid, MasterVersionMissing) as error:
        return Diagnosis("secrets", passed=False, text=str(error))
    async with dependencies.database.transaction() as transaction:
        versions = await master_versions(transaction, checked)
    old = sum(number for version, number in versions.items() if version != keyring.active)
    text = f"{count} encrypted values can be decrypted"
    if old:
        text += f"; {old} of them under an old master key: run mudra keys rewrap"
    return Diagnosis("secrets", passed=True, text=text)


async def _one_secret_each(dependencies: Dependencies) -> Diagnosis:
    """Every entity has exactly one current secret."""
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
    """No email waits for long, and the mail server takes the sign-in; none is sent to it."""
    settings = dependencies.settings
    if settings.smtp_url is None:
        return Diagnosis("mail", passed=True, text="no mail server set: emails stay in the mailbox")
    async with dependencies.database.transaction() as transaction:
        now = await transaction.now()
        waiting = await transaction.connection.scalar(
            sa.select(sa.func.count())
            .select_from(mail_outbox)
            .where(mail_outbox.c.sent_at.is_(None), mail_outbox.c.created_at < now - _MAX_MAIL_WAIT)
        )
    faults = [
        await mail_server_fault(settings.smtp_url, settings.mail_from, settings.network_name),
        f"{waiting} emails have waited for over an hour: see mudra mail list" if waiting else "",
    ]
    text = "; ".join(filter(None, faults))
    return Diagnosis(
        "mail",
        passed=not text,
        text=text or "the mail server takes emails, and none has waited for over an hour",
    )


async def _audit(dependencies: Dependencies) -> Diagnosis:
    """Events are sealed in time, and the second place agrees with the database."""
    async with dependencies.database.transaction() as transaction:
        chain = transaction.service(AuditChain)
        agrees = await copy_checkpoints(chain)
        delay = await sealing_delay(transaction)
        running = await chain.ledger.is_service_running()
    if not agrees:
        return Diagnosis(
            "audit",
            passed=False,
            text="the second place has a checkpoint that the database contradicts: "
            "run mudra audit verify",
        )
    if running and delay.seconds > MAX_WAIT.total_seconds():
        by = f", held back by {delay.held_by}" if delay.held_by else ""
        text = f"sealing has stopped: an event has waited for {delay.seconds / 60:.0f} minutes{by}"
        return Diagnosis("audit", passed=False, text=text)
    return Diagnosis("audit", passed=True, text="sealed in time, and its second place agrees")


async def _connections(dependencies: Dependencies) -> Diagnosis:
    """The server takes the connections of all nodes at their busiest; says how large to make it."""
    processes = await _processes_at_most(dependencies)
    pooled, direct = processes * MAX_CONNECTIONS, processes * _DIRECT_EACH
    with psycopg.connect(dependencies.database.direct, connect_timeout=5) as connection:
        row = connection.execute("SHOW max_connections").fetchone()
    assert row is not None
    most = int(str(row[0]))
    if dependencies.settings.database_direct_url is None:
        needed = pooled + direct
        text = f"{processes} processes of all nodes open {needed} at most, the server takes {most}"
        advice = "raise max_connections, or put PgBouncer in front (docs/operations/running.md)"
    else:
        needed = direct + _POOL
        text = (
            f"{processes} processes of all nodes open {direct} direct ones and {pooled} at "
            f"PgBouncer at most (its max_client_conn), which needs default_pool_size {_POOL}; "
            f"the server takes {most}"
        )
        advice = "raise max_connections"
    passed = needed <= most
    return Diagnosis("connections", passed, text if passed else f"{text}: {advice}")


async def _processes_at_most(dependencies: Dependencies) -> int:
    """Return how many processes of all nodes open connections: those that run, or this node's."""
    async with dependencies.database.transaction() as transaction:
        running = await running_processes(transaction)
    return max(running, dependencies.settings.workers + 1)
