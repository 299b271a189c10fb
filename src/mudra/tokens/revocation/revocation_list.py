"""The revocation list: which Entity Access Tokens ended before their `exp`.

Programs that verify tokens offline read it every few seconds, so that a token that was revoked, or
whose entity was suspended, ends everywhere within a minute.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec
from msgspec import Struct

from mudra.identity.memberships.token_end_rule import CLOCK_TOLERANCE
from mudra.tokens.authentication.token_check import LEEWAY_S
from mudra.tokens.claims import ENTITY_TOKEN_LIFE

LIST_LIFE: Final = timedelta(seconds=60)
"""How long a list may be relied on. It is made again much sooner."""
_VERSION: Final = "1.0.0"


class EndedTokens(Struct, frozen=True):
    """The stored tokens that ended early and that someone would still accept."""

    revoked: Sequence[str]
    """The `jti` of each token that was revoked by itself."""
    not_before: Mapping[str, datetime]
    """For an entity: tokens issued before this time have ended."""


class RevocationList(Struct, frozen=True, rename="camel"):
    """The list as it is sent; all times in seconds since the epoch."""

    ver: str
    issuer: str
    issued_at: int
    valid_until: int
    revoked: Sequence[str]
    not_before: Mapping[str, int]


def revocation_list(issuer: str, ended: EndedTokens, now: datetime) -> bytes:
    """Return the list as JSON, in a fixed order."""
    issued_at = int(now.timestamp())
    return msgspec.json.encode(
        RevocationList(
            _VERSION,
            issuer,
            issued_at,
            issued_at + int(LIST_LIFE.total_seconds()),
            sorted(ended.revoked),
            {entity_id: whole_second(at) for entity_id, at in sorted(ended.not_before.items())},
        )
    )


def whole_second(at: datetime) -> int:
    """Return the first whole second that is not before `at`: `iat` has whole seconds."""
    return int(at.timestamp()) + (at.microsecond > 0)


def accepted_beyond(now: datetime) -> datetime:
    """Return the `exp` up to which no one accepts a token any more: after its leeway, by any clock.

    A token that ended early stays in the list until then.
    """
    return now - timedelta(seconds=LEEWAY_S) - CLOCK_TOLERANCE


def still_counts_after(now: datetime) -> datetime:
    """Return the earliest `not before` time that an accepted token can still be older than."""
    return accepted_beyond(now) - ENTITY_TOKEN_LIFE
