"""The faults of a sandbox: the use case behind a unit of work, and what wiring puts in front."""

from msgspec import Struct

from mudra.audit.ports import AuditLog
from mudra.bootstrap.clock import ServiceClock
from mudra.settings.settings import Settings
from mudra.shared.ids import fresh_id
from mudra.storage.caching.cache_invalidation import CacheInvalidation
from mudra.storage.crypto.data_encryption import DataEncryption
from mudra.storage.crypto.key_pairs import KeyPairs
from mudra.storage.database.database import Database, Transaction
from mudra.storage.tokens.fault_board import FaultyCredentials, FaultySigner, MemoryFaultBoard
from mudra.storage.tokens.faults import PostgresFaults
from mudra.tokens.faults.switch_faults import FaultService
from mudra.tokens.ports import CredentialSource, Signer


class TokenSources(Struct, frozen=True):
    """Credentials and signer of a worker, with the faults that change them in a sandbox."""

    credentials: CredentialSource
    signer: Signer
    board: MemoryFaultBoard | None = None
    keys: FaultySigner | None = None


def fault_service(
    transaction: Transaction,
    encryption: DataEncryption,
    audit_log: AuditLog,
    new_keys: KeyPairs,
) -> FaultService:
    """Return the use case in a transaction."""
    return FaultService(PostgresFaults(transaction, encryption), audit_log, new_keys.new, fresh_id)


def token_sources(  # what a worker has of each
    credentials: CredentialSource,
    signer: Signer,
    *,
    settings: Settings,
    database: Database,
    encryption: DataEncryption,
    invalidation: CacheInvalidation,
    clock: ServiceClock,
) -> TokenSources:
    """Put faults in front of credentials and signer, in a sandbox only."""
    if not settings.sandbox:
        return TokenSources(credentials, signer)
    board = MemoryFaultBoard(database, encryption, invalidation, clock, settings.token_type_header)
    keys = FaultySigner(signer, board)
    return TokenSources(FaultyCredentials(credentials, board), keys, board, keys)
