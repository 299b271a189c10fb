"""What a search of the audit log asks for and finds."""

from collections.abc import Mapping
from datetime import datetime

from msgspec import Struct


class AuditRow(Struct, frozen=True):
    """One event as it is stored."""

    seq: int
    at: datetime
    event: str
    outcome: str
    actor: str
    entity_id: str
    address: str
    txn_id: str
    reason: str
    detail: Mapping[str, object]


class TokensOfDay(Struct, frozen=True):
    """How many Entity Access Tokens were issued and refused on a day of UTC."""

    day: datetime
    issued: int
    refused: int


class AuditFilter(Struct, frozen=True, kw_only=True):
    """Which events; an empty field is no condition.

    `event` may end in `*`. `user_id` matches the actor and the person concerned. `actor` is as
    the row has it, or a person's email address, which matches all that this person did.
    `jti` names a token.
    """

    event: str = ""
    outcome: str = ""
    actor: str = ""
    user_id: str = ""
    entity_id: str = ""
    txn_id: str = ""
    jti: str = ""
    since: datetime | None = None
    until: datetime | None = None
