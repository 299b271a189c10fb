"""The parts of the audit chain, in one transaction."""

from typing import Protocol

from msgspec import Struct

from mudra.audit.archive_store import Archives
from mudra.audit.audit_log_store import AuditLog
from mudra.audit.ports import Checkpoints, Ledger, TokenIssues, Witness


class AuditChain(Struct, frozen=True):
    """The chain with its checkpoints, in one transaction."""

    ledger: Ledger
    checkpoints: Checkpoints
    witness: Witness
    token_issues: TokenIssues
    archives: Archives
    clock_is_moved: bool = False
    """Whether the clock is the sandbox's, whose times prove nothing."""


class AuditWork(Protocol):
    """What of a unit of work is needed to verify."""

    @property
    def audit_log(self) -> AuditLog:
        """The audit log."""

    @property
    def audit_chain(self) -> AuditChain:
        """The chain over it."""
