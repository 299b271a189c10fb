"""A correction: which windows of a member an accepted dispute has figures count differently."""

from datetime import datetime
from typing import Literal, NamedTuple

Effect = Literal["left_out", "not_against_member"]
"""`left_out`: the windows count neither for nor against the member. `not_against_member`: their
failures do not count against it; their successes count."""


class Correction(NamedTuple):
    """Windows of one member whose figures count differently, and why.

    From `start` until before `end`, both in UTC on the edges of windows of ten minutes. An `api`
    of None means all of the member's APIs. The figures as they were reported stay stored.
    """

    id: str
    entity_id: str
    api: str | None
    start: datetime
    end: datetime
    effect: Effect
    reason: str
    decided_at: datetime
