"""Alarms to those concerned: letters to admins, messages to webhooks."""

from collections.abc import Sequence
from datetime import datetime

import structlog

from mudra.bootstrap.dependencies import Dependencies
from mudra.bootstrap.telemetry import ALARMS, ALARMS_SILENCED
from mudra.identity.ports import Notice, NoticeKind
from mudra.metrics.incidents.incident import AaReporting
from mudra.metrics.incidents.incident_change import Alarm, alarm
from mudra.metrics.incidents.subject import name_of
from mudra.metrics.notifications.incident_notifications import IncidentNotification
from mudra.metrics.notifications.webhook import message_of
from mudra.storage.database.database import Transaction
from mudra.storage.identity.people import PostgresPeople
from mudra.storage.metrics.alarms import PostgresWebhooks

_log = structlog.get_logger()


async def send_alarms(
    dependencies: Dependencies,
    transaction: Transaction,
    found: Sequence[IncidentNotification],
    now: datetime,
) -> None:
    """Wake those concerned about each of the news that carries an alarm."""
    webhooks = PostgresWebhooks(transaction, dependencies.seal)
    for one in found:
        if one.alarm is None:
            if alarm(one.change) is not None:
                ALARMS_SILENCED.inc()
            continue
        subject = one.incident.subject
        entity_id = name_of(subject).entity_id
        kind = "reporting" if isinstance(subject, AaReporting) else "calls"
        ALARMS.labels(kind, type(one.change).__name__.lower()).inc()
        _log.warning("alarm", entity_id=entity_id, title=one.alarm.title)
        body = message_of(one, now)
        if body is not None:
            await webhooks.post(entity_id, body, now)
        await _write(dependencies, transaction, entity_id, one.alarm)


async def _write(
    dependencies: Dependencies, transaction: Transaction, entity_id: str, told: Alarm
) -> None:
    member = await PostgresPeople(transaction).member(entity_id)
    for address in member.admins if member else ():
        await dependencies.outbox(transaction).post(
            Notice(
                to=address,
                kind=NoticeKind.HEALTH_ALARM,
                facts={
                    "title": told.title,
                    "story": told.text.replace("\n", " "),
                    "entity_id": entity_id,
                },
            )
        )
