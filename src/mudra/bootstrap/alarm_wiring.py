"""The services of alarms, as the dependencies of a process make them."""

import secrets
from datetime import timedelta
from typing import TYPE_CHECKING

from mudra.audit.audit_log_store import AuditLog
from mudra.metrics.incidents.silence_service import SilenceService
from mudra.metrics.notifications.alarm_mail import StormRule
from mudra.metrics.notifications.alarm_mail_store import (
    AlarmMails,
    AlarmPreferenceStore,
    FollowedFips,
)
from mudra.metrics.notifications.alarm_mailer import AlarmMailer
from mudra.metrics.notifications.preference_service import AlarmPreferenceService, FollowService
from mudra.metrics.notifications.webhook import MAX_TESTS
from mudra.metrics.notifications.webhook_service import WebhookService
from mudra.metrics.notifications.webhook_store import Webhooks
from mudra.registry.lifecycle.acts.write_budget_store import WriteBudget
from mudra.shared.ids import fresh_id
from mudra.storage.database.transaction import Transaction
from mudra.storage.mail.outbox import Outbox
from mudra.storage.metrics.incident_acts import PostgresSilences
from mudra.storage.metrics.receipts import OnboardedMembers

if TYPE_CHECKING:  # it imports this module
    from mudra.bootstrap.dependencies import Dependencies


def silence_service(
    transaction: Transaction,
) -> SilenceService:
    """Return the service of silences."""
    members, audit_log = OnboardedMembers(transaction), AuditLog(transaction)
    return SilenceService(
        PostgresSilences(transaction),
        members,
        Webhooks(transaction),
        audit_log,
        transaction.lock_name,
        fresh_id,
    )


def webhook_service(
    parts: "Dependencies",
    transaction: Transaction,
) -> WebhookService:
    """Return the service of webhooks."""
    return WebhookService(
        store=Webhooks(transaction),
        members=OnboardedMembers(transaction),
        audit_log=AuditLog(transaction),
        count_alone=transaction.lock_name,
        test_wait_s=WriteBudget(transaction, MAX_TESTS).wait_s,
        new_id=fresh_id,
        random_bytes=secrets.token_bytes,
        url_problem=parts.reach.url_fault,
        console=parts.console,
    )


def preference_service(
    transaction: Transaction,
) -> AlarmPreferenceService:
    """Return the service of people's preferences."""
    webhooks = Webhooks(transaction)
    audit_log = AuditLog(transaction)
    return AlarmPreferenceService(AlarmPreferenceStore(transaction), webhooks, audit_log)


def follow_service(
    transaction: Transaction,
) -> FollowService:
    """Return the service of the FIPs that FIUs follow."""
    members, audit_log = OnboardedMembers(transaction), AuditLog(transaction)
    store = FollowedFips(transaction)
    return FollowService(store, members, audit_log, transaction.lock_name)


def alarm_mailer(parts: "Dependencies", transaction: Transaction) -> AlarmMailer:
    """Return what sends alarms to people."""
    rule = StormRule(
        parts.settings.health_storm_alarms,
        timedelta(minutes=parts.settings.health_storm_minutes),
    )
    return AlarmMailer(
        AlarmMails(transaction),
        transaction.service(Outbox),
        Webhooks(transaction),
        rule,
        parts.console,
        parts.languages,
    )
