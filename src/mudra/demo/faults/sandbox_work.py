"""The unit of work of a sandbox, which can switch faults too."""

from msgspec.structs import asdict

from mudra.demo.faults.fault_rows import FaultRows
from mudra.demo.faults.switch_faults import FaultService
from mudra.shared.ids import fresh_id
from mudra.storage.crypto.data_encryption import DataEncryption
from mudra.storage.database.transaction import Transaction
from mudra.tokens.ports import NewKey
from mudra.unit_of_work import UnitOfWork


class SandboxWork(UnitOfWork, frozen=True, kw_only=True):
    """The ports of one open transaction of a sandbox."""

    faults: FaultService


def sandbox_work(
    work: UnitOfWork, transaction: Transaction, encryption: DataEncryption, new_key: NewKey
) -> SandboxWork:
    """Return the unit of work of a transaction with its faults."""
    rows = FaultRows(transaction, encryption)
    service = FaultService(rows, work.audit_log, new_key, fresh_id)
    return SandboxWork(**asdict(work), faults=service)


def fault_service(work: UnitOfWork) -> FaultService:
    """Return what may be done with faults, in the unit of work of a sandbox."""
    assert isinstance(work, SandboxWork), "asked for in a sandbox only"
    return work.faults
