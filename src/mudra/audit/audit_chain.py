"""The parts of the audit chain, in one transaction."""

from msgspec import Struct

from mudra.audit.archive_store import Archives
from mudra.audit.chain_store import LedgerStore
from mudra.audit.ports import Checkpoints, Witness
from mudra.audit.token_issue_store import TokenIssueStore


class AuditChain(Struct, frozen=True):
    """The chain with its checkpoints, in one transaction."""

    ledger: LedgerStore
    checkpoints: Checkpoints
    witness: Witness
    token_issues: TokenIssueStore
    archives: Archives
    clock_is_moved: bool = False
    """Whether the clock is the sandbox's, whose times prove nothing."""
