"""The acts on many members at once."""

import enum
from typing import Final

from mudra.shared.refusal import ValueRefused

MAX_REASON: Final = 200


class BulkAct(enum.StrEnum):
    """The act on each of the members."""

    INVITE = "invite"
    """Send a new link to each admin who has not activated the account."""
    SUSPEND = "suspend"
    EXPORT = "export"


def checked_reason(act: BulkAct, reason: str) -> ValueRefused | None:
    """Return why a reason is not accepted: a suspension has one, as the single act does."""
    if act is BulkAct.SUSPEND and not 1 <= len(reason.strip()) <= MAX_REASON:
        return ValueRefused("reason", f"must be a reason of 1 to {MAX_REASON} characters")
    return None
