"""The life of signing keys over months of plans, rotations and pauses."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.support.depth import examples

from mudra.tokens.claims import TokenKind
from mudra.tokens.signing_keys.key_lifecycle import (
    KeyState,
    SigningKey,
    at_once,
    plan,
    published,
    signing,
    succession,
)

CLOCK_TOLERANCE = timedelta(seconds=30)
JWKS_MAX_AGE = timedelta(minutes=5)
PUBLISHED_AHEAD = timedelta(hours=1)

pytestmark = pytest.mark.deeper

START = datetime(2026, 1, 1, tzinfo=UTC)
ROTATE_AFTER = timedelta(days=30)
pauses = st.one_of(
    st.timedeltas(timedelta(seconds=1), timedelta(hours=3)),
    st.timedeltas(timedelta(hours=3), timedelta(days=70)),
)
steps = st.lists(st.tuples(pauses, st.booleans()), min_size=1, max_size=25)
drops = st.sets(st.integers(0, 4))
"""Which keys are dropped, counted from the youngest."""
moments = st.timedeltas(timedelta(microseconds=1), CLOCK_TOLERANCE)
steps_with_drops = st.lists(
    st.tuples(st.one_of(moments, pauses), st.booleans(), drops), min_size=1, max_size=25
)


class Keys:
    """Carries plans out as tokens/signing_keys/signing_key_service.py does, without a database."""

    def __init__(self, kind: TokenKind) -> None:
        self.kind = kind
        self.keys: dict[str, SigningKey] = {}
        self.destroyed: dict[str, datetime] = {}

    def care(self, now: datetime, *, rotate_now: bool) -> None:
        """Do what is due at `now`."""
        due = plan(list(self.keys.values()), now, rotate_after=ROTATE_AFTER, rotate_now=rotate_now)
        if due.handover is not None:
            previous, following, at = due.handover.previous, due.handover.following, due.handover.at
            self.keys[previous.kid] = replace(previous, retires_at=at)
            self.keys[following.kid] = replace(following, active_from=at)
        if due.make_active:
            self._make(now, at_once(now))
        if due.make_pending:
            self._make(now, None)
        for kid in due.destroy_private:
            self.destroyed.setdefault(kid, now)

    def drop(self, kids: set[str], now: datetime) -> None:
        """Drop keys at `now`."""
        dropped = {kid for kid in kids if self.keys[kid].revoked_at is None}
        if not dropped:
            return
        for kid in dropped:
            self.keys[kid] = replace(self.keys[kid], revoked_at=now)
        due = succession(self.kind, list(self.keys.values()), now)
        if due.signs_on is not None:
            self.keys[due.signs_on.kid] = replace(due.signs_on, retires_at=None)
        if due.appoint is not None:
            kid = due.appoint.kid
            self.keys[kid] = replace(self.keys[kid], active_from=at_once(now))
        if due.make_active:
            self._make(now, at_once(now))
        if due.make_pending:
            self._make(now, None)

    def _make(self, now: datetime, active_from: datetime | None) -> None:
        kid = f"key-{len(self.keys)}"
        self.keys[kid] = SigningKey(kid, self.kind, now, active_from, None, {})

    def at(self, now: datetime) -> SigningKey:
        """The key that signs."""
        key = signing(list(self.keys.values()), self.kind, now)
        assert key is not None
        return key


def instants(keys: Keys, since: datetime, until: datetime) -> list[datetime]:
    """Both ends, and both sides of every change between them."""
    changes = [
        at
        for key in keys.keys.values()
        for at in (key.created_at, key.active_from, key.retires_at)
        if at is not None and since < at < until
    ]
    moment = timedelta(microseconds=1)
    return [since, *(at + by for at in changes for by in (-moment, timedelta())), until - moment]


@given(st.sampled_from(TokenKind), steps)
@settings(max_examples=examples(10))
def test_at_every_instant_one_key_signs_that_verifiers_know_and_whose_private_part_exists(
    kind: TokenKind, plans: list[tuple[timedelta, bool]]
) -> None:
    keys, now = Keys(kind), START
    for pause, rotate_now in plans:
        keys.care(now, rotate_now=rotate_now)
        for at in instants(keys, now, now + pause):
            states = [key.state(at) for key in keys.keys.values()]
            assert states.count(KeyState.ACTIVE) == 1
            signs = keys.at(at)
            assert signs in published(list(keys.keys.values()), at)
            assert signs.kid not in keys.destroyed
            assert keys.at(at - CLOCK_TOLERANCE).kid not in keys.destroyed  # on a node behind
            if signs.kid != "key-0":
                assert at - signs.created_at >= max(PUBLISHED_AHEAD, 2 * JWKS_MAX_AGE)
        now += pause


@given(st.sampled_from(TokenKind), steps)
@settings(max_examples=examples(10))
def test_a_key_stays_published_until_its_last_token_has_ended_and_goes_after(
    kind: TokenKind, plans: list[tuple[timedelta, bool]]
) -> None:
    keys, now = Keys(kind), START
    for pause, rotate_now in plans:
        keys.care(now, rotate_now=rotate_now)
        now += pause

    for key in keys.keys.values():
        if key.retires_at is None:
            continue
        last_token_ends = key.retires_at + kind.life
        shown = list(keys.keys.values())
        assert key in published(shown, max(last_token_ends, key.created_at))
        assert key not in published(shown, key.leaves_jwks_at())
        if key.kid in keys.destroyed:
            assert keys.destroyed[key.kid] >= key.retires_at
    # What is handed over in one round is destroyed in the next, once no node's clock is before it.
    keys.care(now, rotate_now=False)
    keys.care(now + CLOCK_TOLERANCE, rotate_now=False)
    spent = {k.kid for k in keys.keys.values() if k.retires_at is not None and k.retires_at <= now}
    assert spent == set(keys.destroyed)


@given(st.sampled_from(TokenKind), steps_with_drops)
# The key that handed over a moment ago is dropped: a node behind has not changed over yet.
@example(
    TokenKind.ENTITY,
    [(ROTATE_AFTER, False, set()), (timedelta(seconds=1), False, {2})],
)
@settings(max_examples=examples(20))
def test_whatever_is_dropped_whenever_one_key_signs_that_was_not(
    kind: TokenKind, plans: list[tuple[timedelta, bool, set[int]]]
) -> None:
    keys, now = Keys(kind), START
    for pause, rotate_now, dropped in plans:
        keys.care(now, rotate_now=rotate_now)
        now += pause
        youngest = list(reversed(keys.keys))
        gone = {youngest[place] for place in dropped if place < len(youngest)}
        keys.drop(gone, now)

        until = max(k.retires_at or now for k in keys.keys.values()) + timedelta(hours=1)
        for at in instants(keys, now, max(until, now + timedelta(hours=1))):
            assert [key.state(at) for key in keys.keys.values()].count(KeyState.ACTIVE) == 1
            for clock in (at, at - CLOCK_TOLERANCE):  # also on a node behind
                signs = keys.at(clock)
                assert signs.kid not in keys.destroyed
                assert signs.revoked_at is None
