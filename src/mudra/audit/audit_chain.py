"""The parts of the audit chain, in one transaction."""

from msgspec import Struct

from mudra.audit.archive_store import Archives
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
