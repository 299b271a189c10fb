"""The life of a signing key: pending, active, retiring, retired.

There are imported keys too: public halves of an earlier issuer, by which its tokens are
verified until a date. None of them ever signs, and no rotation sees them.

A key is published in the JWKS from the moment it exists. A pending one is made in
advance: it has been public longer than any verifier caches before it signs. Which
key signs depends on time alone (`active_from`), so that all nodes change over at
the same instant without a message between them. Their clocks may differ by
`CLOCK_TOLERANCE`: so a dropped key is retired at any time, whatever time its drop
bears, what replaces it signs from that much earlier, and the private part of a key
is kept that much longer.
"""

import enum
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from mudra.shared.clock import CLOCK_TOLERANCE
from mudra.tokens.claims import TokenKind

JWKS_MAX_AGE: Final = timedelta(minutes=5)
PUBLISHED_AHEAD: Final = timedelta(hours=1)
"""Minimum time between publishing and signing: more than twice the JWKS max-age."""
LEEWAY: Final = timedelta(seconds=60)
PUBLISHED_AFTER: Final = LEEWAY + JWKS_MAX_AGE + timedelta(hours=1)


REPEATED_WITHIN: Final = timedelta(minutes=10)
"""An emergency that drops all keys is a repetition so long after one that did."""


class KeyState(enum.StrEnum):
    """The state of a signing key at an instant."""

    PENDING = "pending"
    ACTIVE = "active"
    RETIRING = "retiring"
    RETIRED = "retired"
    IMPORTED = "imported"


class SigningKey(Struct, frozen=True):
    """One key without its private part.

    It signs from `active_from` until `retires_at` (unset while it has no successor).
    `revoked_at` is set when it was dropped in an emergency, which holds at any time. With an
    `issuer` it is the public half of that other issuer's key, and `retires_at` is when it leaves
    the JWK Set.
    """

    kid: str
    kind: TokenKind
    created_at: datetime
    active_from: datetime | None
    retires_at: datetime | None
    public_jwk: dict[str, str]
    revoked_at: datetime | None = None
    issuer: str = ""

    def state(self, now: datetime) -> KeyState:
        """Return the state of the key at `now`."""
        if self.revoked_at is not None:
            return KeyState.RETIRED
        if self.issuer:
            ended = self.retires_at is not None and self.retires_at <= now
            return KeyState.RETIRED if ended else KeyState.IMPORTED
        if self.active_from is None or now < self.active_from:
            return KeyState.PENDING
        if self.retires_at is None or now < self.retires_at:
            return KeyState.ACTIVE
        return KeyState.RETIRING if now < self.leaves_jwks_at() else KeyState.RETIRED

    def leaves_jwks_at(self) -> datetime:
        """Return when the last token that it signed has expired everywhere."""
        assert self.retires_at is not None
        if self.issuer:
            return self.retires_at
        return self.retires_at + self.kind.life + PUBLISHED_AFTER

    def usable_from(self) -> datetime:
        """Return from when every verifier can have seen it."""
        return self.created_at + PUBLISHED_AHEAD


class Handover(Struct, frozen=True):
    """The next key signs from `at`; the previous one stops then."""

    previous: SigningKey
    following: SigningKey
    at: datetime


class KeyPlan(Struct, frozen=True):
    """The steps after which tokens of one kind can always be signed."""

    make_active: bool
    make_pending: bool
    handover: Handover | None
    destroy_private: tuple[str, ...]


def were_all_just_dropped(keys: Sequence[SigningKey], now: datetime) -> bool:
    """Return whether an emergency made, moments ago, all own keys of a kind that are left.

    Then who drops all again did not get the answer: it would end tokens with which nothing is
    wrong. An emergency that dropped one key leaves others, and is none.
    """
    own = [key for key in keys if not key.issuer]
    made = {key.created_at for key in own if key.revoked_at is None}
    if len(made) != 1 or now - max(made) >= REPEATED_WITHIN:
        return False
    return any(key.revoked_at in made for key in own)


def plan(
    keys: Sequence[SigningKey],
    now: datetime,
    *,
    rotate_after: timedelta,
    rotate_now: bool = False,
) -> KeyPlan:
    """Return what is due for the keys of one kind.

    The very first key signs at once, since no verifier exists yet. With
    `rotate_now` the pending key follows as soon as it is usable.
    """
    keys = [key for key in keys if not key.issuer]
    live = [key for key in keys if key.state(now) is not KeyState.RETIRED]
    active = next((key for key in live if key.state(now) is KeyState.ACTIVE), None)
    pending = [key for key in live if key.state(now) is KeyState.PENDING]
    unscheduled = [key for key in pending if key.active_from is None]
    unneeded = tuple(
        key.kid for key in keys if key.state(at_once(now)) in {KeyState.RETIRING, KeyState.RETIRED}
    )
    if active is None:
        return KeyPlan(True, not unscheduled, None, unneeded)  # noqa: FBT003  # the parts in their order
    if active.retires_at is not None:
        return KeyPlan(False, not unscheduled, None, unneeded)  # noqa: FBT003  # the parts in their order
    if not unscheduled:
        return KeyPlan(False, True, None, unneeded)  # noqa: FBT003  # the parts in their order
    following = min(unscheduled, key=lambda key: key.created_at)
    assert active.active_from is not None
    due = rotate_now or now >= active.active_from + rotate_after
    handover = Handover(active, following, max(now, following.usable_from())) if due else None
    return KeyPlan(False, handover is not None, handover, unneeded)  # noqa: FBT003  # the parts in their order


class Succession(Struct, frozen=True):
    """The needs of a kind of token once keys of it were dropped."""

    kind: TokenKind
    make_active: bool = False
    make_pending: bool = False
    appoint: SigningKey | None = None
    """The key that signs at once, on a node whose clock is behind too: it was pending, or took
    over from a dropped one so lately that such a node would have none."""
    signs_on: SigningKey | None = None
    """The key that signs and was to stop for one that was dropped."""


def succession(kind: TokenKind, left: Sequence[SigningKey], now: datetime) -> Succession:
    """Return what the keys that are left need, so that every node can sign tokens of the kind."""
    own = [key for key in left if key.kind is kind and not key.issuer]
    pending = [key for key in own if key.state(now) is KeyState.PENDING]
    active = signing(own, kind, now)
    if active is None:
        oldest = min(pending, key=lambda key: key.created_at, default=None)
        return Succession(kind, make_active=oldest is None, make_pending=True, appoint=oldest)
    ends = active.retires_at
    starts = [key.active_from for key in pending if key.active_from is not None]
    ends_early = ends is not None and not any(start <= ends for start in starts)
    return Succession(
        kind,
        appoint=active if _has_gap(own, kind, now) else None,
        signs_on=active if ends_early else None,
    )


def _has_gap(left: Sequence[SigningKey], kind: TokenKind, now: datetime) -> bool:
    """Return whether no key signs on some node that is at most `CLOCK_TOLERANCE` behind."""
    ends = [key.retires_at for key in left if key.retires_at is not None]
    begins = [at_once(now), *(end for end in ends if at_once(now) < end < now)]
    return any(signing(left, kind, at) is None for at in begins)


def published(keys: Sequence[SigningKey], now: datetime) -> list[SigningKey]:
    """List the keys that verifiers must know at `now`, the signing ones first."""
    order = (KeyState.ACTIVE, KeyState.PENDING, KeyState.RETIRING, KeyState.IMPORTED)
    found = [key for key in keys if key.state(now) in order]
    return sorted(found, key=lambda key: (order.index(key.state(now)), key.kind, key.created_at))


def signing(keys: Sequence[SigningKey], kind: TokenKind, now: datetime) -> SigningKey | None:
    """Find the key that signs tokens of a kind at `now`."""
    own = [key for key in keys if not key.issuer]
    usable = [key for key in own if key.kind is kind and key.state(now) is KeyState.ACTIVE]
    return max(usable, key=lambda key: key.active_from or key.created_at, default=None)


def at_once(now: datetime) -> datetime:
    """Return the time of a change that every node must make now, also one whose clock is behind."""
    return now - CLOCK_TOLERANCE
