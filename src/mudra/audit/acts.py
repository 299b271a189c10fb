"""Acts that a restore must not take back unseen: they are written to the second place.

A checkpoint says how many events there were; these say what the ones were that matter after a
restore: keys that were dropped, secrets that were reset, tokens that were revoked, passkeys that
were removed, members that were suspended, entries that changed.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from mudra.audit.event import EventName

RECORDED: Final = (
    EventName.KEYS_SIGNING_DROP,
    EventName.ENTITY_STATUS_CHANGE,
    EventName.OPERATOR_ACCOUNT_CHANGE,
    EventName.USER_ACCOUNT_CHANGE,
    EventName.USER_PASSWORD_SET,
    EventName.USER_FACTOR_REMOVE,
    EventName.USER_FACTOR_ADD,
    EventName.USER_RECOVERY_RENEW,
    EventName.ENTITY_SECRET_RESET,
    EventName.ENTITY_SECRET_RETIRE,
    EventName.ENTITY_ADDRESSES_CHANGE,
    EventName.ENTITY_TOKEN_REVOKE,
    EventName.REGISTRY_ENTRY_APPROVE,
    EventName.REGISTRY_ENTRY_ROLLBACK,
    EventName.REGISTRY_ENTRY_SUSPEND,
    EventName.REGISTRY_ENTRY_RETIRE,
    EventName.REGISTRY_ENTRY_RESTORE,
    EventName.REGISTRY_ENTRY_SUBMIT,
    EventName.ENTITY_SECRET_CREATE,
)
"""The most important first: where there are more acts than can be written, these are written."""
MAX_ACTS: Final = 200
"""Written with one checkpoint, which is made every 1,000 events: the line fits a datagram."""
_RANKS: Final = {name.value: place for place, name in enumerate(RECORDED)}


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


def acts_to_write(found: Sequence[Act]) -> Acts:
    """Choose what is written with a checkpoint: all, or the most important, in their order."""
    kept = sorted(range(len(found)), key=lambda place: _RANKS[found[place].event])[:MAX_ACTS]
    return Acts(tuple(found[place] for place in sorted(kept)), len(found) - len(kept))
