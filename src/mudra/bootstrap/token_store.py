"""Secrets and bindings of entities: the use cases behind a unit of work."""

import secrets

from mudra.audit.audit_log_store import AuditLog
from mudra.identity.accounts.people_store import People
from mudra.identity.memberships.membership_store import Memberships
from mudra.identity.memberships.notices import NoticeService
from mudra.settings.settings import Settings
from mudra.storage.database.transaction import Transaction
from mudra.tokens.authentication.registered_key_store import RegisteredKeys
from mudra.tokens.secrets.address_binding_store import AddressBindings
from mudra.tokens.secrets.binding_service import BindingService
from mudra.tokens.secrets.secret_service import SecretService
from mudra.tokens.secrets.secret_store import Secrets
from mudra.tokens.secrets.secret_use_store import SecretUses


def binding_service(
    transaction: Transaction, notices: NoticeService, audit_log: AuditLog, settings: Settings
) -> BindingService:
    """Return the use case of bindings to listed addresses, in a transaction."""
    return BindingService(
        AddressBindings(transaction),
        SecretUses(transaction),
        RegisteredKeys(transaction),
        People(transaction),
        Memberships(transaction),
        notices,
        audit_log,
        settings.addresses_enforced,
    )


def secret_service(
    transaction: Transaction, store: Secrets, notices: NoticeService, audit_log: AuditLog
) -> SecretService:
    """Return the use case of entity secrets, in a transaction."""
    uses, memberships = SecretUses(transaction), Memberships(transaction)
    return SecretService(store, uses, memberships, notices, audit_log, secrets.token_bytes)
