"""The result of a verification of the whole audit, in words for operators."""

import enum

from msgspec import Struct


class AuditState(enum.StrEnum):
    """The states of the audit, the worst first."""

    BROKEN = "broken"
    """A row or a checkpoint is not as it was written."""
    STOPPED = "stopped"
    """Events wait for their seal for too long while the service runs."""
    RESTORED = "restored"
    """A restore took events back, and no operator has confirmed it."""
    INTACT = "intact"


class AuditVerdict(Struct, frozen=True):
    """The answer whether every sealed row is as it was written; `problem` is empty when it is.

    `rows` were read without fault, `vouched` of them agree with a checkpoint, `waiting`
    are not sealed yet. `notes` are facts that are no fault, such as confirmed restores. Of the
    blocks of token issues `token_blocks` agree with the chain, `dropped_blocks` were over age.
    The first `archived` rows are in files and no longer in the database.
    """

    state: AuditState
    rows: int
    vouched: int
    problem: str
    waiting: int = 0
    notes: tuple[str, ...] = ()
    token_blocks: int = 0
    dropped_blocks: int = 0
    archived: int = 0

    @property
    def intact(self) -> bool:
        """Return whether nothing is the matter."""
        return self.state is AuditState.INTACT
