"""Messages about a budget: the webhook message and the facts of its emails."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

import msgspec
from msgspec import Struct

from mudra.levels.budgets.burn_store import StoredBurn

EVENT: Final = "levels.budget"


class BudgetMessage(Struct):
    """The body of a message."""

    type: str
    timestamp: datetime
    data: StoredBurn


def body_of(stored: StoredBurn) -> bytes:
    """Returns the body of the message about a budget."""
    return msgspec.json.encode(BudgetMessage(EVENT, stored.at, stored))


def facts_of(stored: StoredBurn) -> Mapping[str, str]:
    """Returns the facts of an email about a budget."""
    burn = stored.burn
    return {
        "outlook": burn.outlook.value,
        "measure": burn.measure.value,
        "target": f"{burn.target:g}",
        "allowed": f"{burn.allowed:,}",
        "spent": f"{burn.spent:,}",
        "day_rate": f"{burn.day_rate:g}",
        "week_rate": f"{burn.week_rate:g}",
        "gone_at": burn.gone_at.isoformat() if burn.gone_at else "",
        "page": f"entity/{stored.entity_id}/levels",
    }
