"""Secrets and bindings of entities: the use cases behind a unit of work."""

import secrets

from mudra.audit.ports import AuditLog
from mudra.bootstrap.config import Settings
from mudra.identity.memberships.notices import NoticeService
from mudra.storage.database.database import Transaction
from mudra.storage.tokens.address_bindings import PostgresAddressBindings
from mudra.storage.tokens.registered_keys import PostgresRegisteredKeys
from mudra.storage.tokens.secret_use import PostgresSecretUses
from mudra.tokens.ports import Secrets, SecretUses
from mudra.tokens.secrets.binding_service import BindingService
from mudra.tokens.secrets.secret_service import SecretService


def binding_service(
    transaction: Transaction, notices: NoticeService, audit_log: AuditLog, settings: Settings
) -> BindingService:
    """Return the use case of bindings to listed addresses, in a transaction."""
    return BindingService(
        PostgresAddressBindings(transaction),
        PostgresSecretUses(transaction),
        PostgresRegisteredKeys(transaction),
        notices,
        audit_log,
        settings.addresses_enforced,
    )


def secret_service(
    store: Secrets, uses: SecretUses, notices: NoticeService, audit_log: AuditLog
) -> SecretService:
    """Return the use case of entity secrets."""
    return SecretService(store, uses, notices, audit_log, secrets.token_bytes)
