"""The services of alarms, as the dependencies of a process make them."""

import secrets
from datetime import timedelta
from typing import Protocol

from mudra.bootstrap.config import Settings
from mudra.localization.languages import Languages
from mudra.metrics.incidents.silence_service import SilenceService
from mudra.metrics.notifications.alarm_mail import StormRule
from mudra.metrics.notifications.alarm_mailer import AlarmMailer
from mudra.metrics.notifications.followed_fips import FollowService
from mudra.metrics.notifications.preference_service import AlarmPreferenceService
from mudra.metrics.notifications.webhook import MAX_TESTS
from mudra.metrics.notifications.webhook_service import WebhookService
from mudra.shared.ids import fresh_id
from mudra.storage.audit.audit_log import PostgresAuditLog
from mudra.storage.crypto.data_encryption import DataEncryption
from mudra.storage.database.database import Transaction
from mudra.storage.mail.outbox import PostgresOutbox
from mudra.storage.metrics.alarm_mails import (
    PostgresAlarmMails,
    PostgresAlarmPreferences,
    PostgresFollowedFips,
)
from mudra.storage.metrics.alarms import PostgresSilences, PostgresWebhooks
from mudra.storage.metrics.receipts import OnboardedMembers
from mudra.storage.registry.write_budget import PostgresWriteBudget
from mudra.webhook.reach import Reach


class AlarmDependencies(Protocol):
    """What these services need of a process."""

    @property
    def settings(self) -> Settings:
        """The settings."""
        ...

    @property
    def encryption(self) -> DataEncryption:
        """The encryption of stored keys."""
        ...

    @property
    def languages(self) -> Languages:
        """The languages of emails."""
        ...

    @property
    def reach(self) -> Reach:
        """The addresses that messages may go to."""
        ...

    @property
    def console(self) -> str:
        """The address of the console."""
        ...

    def outbox(self, transaction: Transaction) -> PostgresOutbox:
        """Return the queue of emails."""
        ...


def silence_service(
    transaction: Transaction, members: OnboardedMembers, audit_log: PostgresAuditLog
) -> SilenceService:
    """Return the service of silences."""
    return SilenceService(
        PostgresSilences(transaction), members, audit_log, transaction.lock_name, fresh_id
    )


def webhook_service(
    parts: AlarmDependencies,
    transaction: Transaction,
    members: OnboardedMembers,
    audit_log: PostgresAuditLog,
) -> WebhookService:
    """Return the service of webhooks."""
    return WebhookService(
        store=PostgresWebhooks(transaction, parts.encryption),
        members=members,
        audit_log=audit_log,
        count_alone=transaction.lock_name,
        test_budget=PostgresWriteBudget(transaction, MAX_TESTS),
        new_id=fresh_id,
        random_bytes=secrets.token_bytes,
        url_problem=parts.reach.url_fault,
        console=parts.console,
    )


def preference_service(
    parts: AlarmDependencies, transaction: Transaction, audit_log: PostgresAuditLog
) -> AlarmPreferenceService:
    """Return the service of people's preferences."""
    webhooks = PostgresWebhooks(transaction, parts.encryption)
    return AlarmPreferenceService(PostgresAlarmPreferences(transaction), webhooks, audit_log)


def follow_service(
    transaction: Transaction, members: OnboardedMembers, audit_log: PostgresAuditLog
) -> FollowService:
    """Return the service of the FIPs that FIUs follow."""
    store = PostgresFollowedFips(transaction)
    return FollowService(store, members, audit_log, transaction.lock_name)


def alarm_mailer(parts: AlarmDependencies, transaction: Transaction) -> AlarmMailer:
    """Return what sends alarms to people."""
    rule = StormRule(
        parts.settings.health_storm_alarms,
        timedelta(minutes=parts.settings.health_storm_minutes),
    )
    return AlarmMailer(
        PostgresAlarmMails(transaction),
        parts.outbox(transaction),
        PostgresWebhooks(transaction, parts.encryption),
        rule,
        parts.console,
        parts.languages,
    )
