"""The job that sends the audit to another log system (MUDRA_AUDIT_EXPORT)."""

import os
import ssl
from collections.abc import Mapping
from datetime import timedelta
from math import nan
from typing import Final
from urllib.parse import unquote

import structlog

from mudra.audit.audit_chain import AuditChain
from mudra.audit.export.exported_event import BATCH, ExportKind, ExportPosition, Receiver, exported
from mudra.audit.export.position_store import ExportPositions
from mudra.bootstrap.clock import ServiceClock
from mudra.bootstrap.dependencies import Dependencies
from mudra.jobs.scheduler import Job
from mudra.jobs.telemetry import AUDIT_EXPORT_WAITING, AUDIT_EXPORTED
from mudra.settings.settings import Settings

_EVERY: Final = timedelta(seconds=20)
_HEADERS: Final = "OTEL_EXPORTER_OTLP_HEADERS"
"""OpenTelemetry's own name for what a collector wants to see, such as a token."""
_log = structlog.get_logger()


class ExportFailed(Exception):
    """The receiver did not take what it was sent; the text says why."""


def audit_export_jobs(dependencies: Dependencies) -> list[Job]:
    """Return the job, or none where no destination is set.

    Raises OSError or ssl.SSLError for files of certificates that cannot be read.
    """
    if dependencies.settings.audit_export is None:
        return []
    receiver = receiver_of(dependencies.settings)

    async def export() -> None:
        await export_audit(dependencies, receiver)

    return [
        Job(
            name="audit-export",
            every=_EVERY,
            run=export,
            forget=lambda: AUDIT_EXPORT_WAITING.set(nan),
        )
    ]


def receiver_of(settings: Settings) -> Receiver:
    """Return what the settings name; raises OSError or ssl.SSLError for unreadable files."""
    # Loaded where it is used: most services have no such destination.
    from mudra.audit_export.over_http import OtlpReceiver, WebhookReceiver  # noqa: PLC0415  # most services never need it
    from mudra.audit_export.syslog import SyslogReceiver  # noqa: PLC0415  # most services never need it

    to = settings.audit_export
    assert to is not None
    context = _trust(settings)
    match to.kind:
        case ExportKind.SYSLOG:
            return SyslogReceiver(to, context)
        case ExportKind.OTLP:
            return OtlpReceiver(to, context, _headers(os.environ.get(_HEADERS, "")))
        case ExportKind.WEBHOOK:
            assert settings.audit_export_secret is not None
            return WebhookReceiver(to, context, settings.audit_export_secret, ServiceClock())


def _trust(settings: Settings) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=settings.audit_export_ca)
    if settings.audit_export_identity is not None:
        context.load_cert_chain(settings.audit_export_identity)
    return context


def _headers(text: str) -> Mapping[str, str]:
    pairs = (one.partition("=") for one in text.split(",") if "=" in one)
    return {unquote(name).strip(): unquote(value).strip() for name, _, value in pairs}


async def export_audit(dependencies: Dependencies, receiver: Receiver) -> None:
    """Send all that is sealed and was not taken yet, in order.

    The position is stored after each message: what was sent before a process was killed is sent
    again. Raises ExportFailed.
    """
    position, left = await _send_next(dependencies, receiver)
    while left:
        position, left = await _send_next(dependencies, receiver)
    AUDIT_EXPORT_WAITING.set(0)
    _log.debug("audit exported", number=position.number)


async def _send_next(dependencies: Dependencies, receiver: Receiver) -> tuple[ExportPosition, bool]:
    """Send the next events; returns the position then, and whether there were any."""
    issuer = dependencies.settings.issuer
    async with dependencies.database.transaction() as transaction:
        chain = transaction.service(AuditChain)
        position = await ExportPositions(transaction).read()
        sealed = await chain.ledger.sealed_after(position.number, BATCH)
        now = await transaction.now()
    if not sealed:
        return position, False
    events = [exported(one, issuer) for one in sealed]
    AUDIT_EXPORT_WAITING.set(max(0.0, (now - events[0].at).total_seconds()))
    problem = await receiver.take(events)
    if problem:
        if not receiver.acknowledges:
            await _moved(dependencies, position, position.failed())
        raise ExportFailed(problem)
    AUDIT_EXPORTED.inc(len(events))
    return await _moved(dependencies, position, position.taken(events[-1].number, now)), True


async def _moved(
    dependencies: Dependencies, before: ExportPosition, to: ExportPosition
) -> ExportPosition:
    """Store a position; one that an operator set meanwhile stays."""
    async with dependencies.database.transaction() as transaction:
        positions = ExportPositions(transaction)
        return to if await positions.move(before, to) else await positions.read()
