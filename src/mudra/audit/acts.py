"""Acts that a restore must not take back unseen: they are written to the second place.

A checkpoint says how many events there were; these say what the ones were that matter after a
restore: secrets that were reset, tokens that were revoked, members that were suspended.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from mudra.audit.event import EventName

RECORDED: Final = (
    EventName.ENTITY_SECRET_CREATE,
    EventName.ENTITY_SECRET_RESET,
    EventName.ENTITY_SECRET_RETIRE,
    EventName.ENTITY_TOKEN_REVOKE,
    EventName.ENTITY_STATUS_CHANGE,
    EventName.USER_ACCOUNT_CHANGE,
    EventName.USER_PASSWORD_SET,
    EventName.OPERATOR_ACCOUNT_CHANGE,
    EventName.KEYS_SIGNING_DROP,
)
MAX_ACTS: Final = 200
"""Written with one checkpoint, which is made every 1,000 events: the line fits a datagram."""


class Act(Struct, frozen=True):
    """One such event: `row_id` and `at` find it in the audit, `about` is what the act names."""

    row_id: int
    at: datetime
    event: str
    entity_id: str
    actor: str
    about: str = ""


class Acts(Struct, frozen=True):
    """The acts between two checkpoints; `more` could not be written with them."""

    listed: Sequence[Act] = ()
    more: int = 0


NO_ACTS: Final = Acts()
