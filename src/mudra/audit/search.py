"""The question and the answer of a search of the audit log."""

import enum
from collections.abc import Mapping
from datetime import datetime
from typing import Final

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
    """Counts of Entity Access Tokens issued and refused on a day of UTC."""

    day: datetime
    issued: int
    refused: int


class ActedBy(enum.StrEnum):
    """The set of those who may have acted."""

    PEOPLE = "people"
    """Admins and operators, each by an address."""
    PROGRAMS = "programs"
    """Members' own, by their secrets, and an operator's that has a name instead of an address."""
    SERVICE = "service"
    """Its jobs."""

    @property
    def prefixes(self) -> tuple[str, ...]:
        """Return what all actors begin with that are of the set."""
        return _ACTORS[self]

    def has(self, actor: str) -> bool:
        """Return whether an actor is of the set."""
        if actor.startswith(OPERATOR):
            return self is (ActedBy.PEOPLE if AT in actor else ActedBy.PROGRAMS)
        return actor.startswith(self.prefixes)


OPERATOR: Final = "operator:"
AT: Final = "@"
"""In the actor of an operator who is a person."""
_ACTORS: Final = {
    ActedBy.PEOPLE: ("user:",),
    ActedBy.PROGRAMS: ("entity:",),
    ActedBy.SERVICE: ("system",),
}


class AuditFilter(Struct, frozen=True, kw_only=True):
    """The choice of events; an empty field is no condition.

    `event` may end in `*`. `user_id` matches the actor and the person concerned. `actor` is as
    the row has it, or a person's email address, which matches all that this person did.
    `jti` names a token.
    """

    event: str = ""
    outcome: str = ""
    actor: str = ""
    by: ActedBy | None = None
    user_id: str = ""
    entity_id: str = ""
    txn_id: str = ""
    jti: str = ""
    since: datetime | None = None
    until: datetime | None = None
