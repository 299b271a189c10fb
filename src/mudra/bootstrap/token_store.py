"""Secrets and bindings of entities: the use cases behind a unit of work."""

import secrets

from mudra.audit.ports import AuditLog
from mudra.identity.memberships.notices import NoticeService
from mudra.settings.settings import Settings
from mudra.storage.database.database import Transaction
from mudra.storage.identity.memberships import PostgresMemberships
from mudra.storage.identity.people import PostgresPeople
from mudra.storage.tokens.address_bindings import PostgresAddressBindings
from mudra.storage.tokens.registered_keys import PostgresRegisteredKeys
from mudra.storage.tokens.secret_use import PostgresSecretUses
from mudra.tokens.ports import Secrets
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
        PostgresPeople(transaction),
        PostgresMemberships(transaction),
        notices,
        audit_log,
        settings.addresses_enforced,
    )


def secret_service(
    transaction: Transaction, store: Secrets, notices: NoticeService, audit_log: AuditLog
) -> SecretService:
    """Return the use case of entity secrets, in a transaction."""
    uses, memberships = PostgresSecretUses(transaction), PostgresMemberships(transaction)
    return SecretService(store, uses, memberships, notices, audit_log, secrets.token_bytes)
