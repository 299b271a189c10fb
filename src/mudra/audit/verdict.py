"""What a verification of the whole audit found, in words for operators."""

from msgspec import Struct


class AuditVerdict(Struct, frozen=True):
    """Whether every sealed row is as it was written; `problem` is empty when it is.

    `rows` were read without fault, `vouched` of them agree with a checkpoint
    that is stored next to the database.
    """

    intact: bool
    rows: int
    vouched: int
    problem: str
