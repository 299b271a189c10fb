"""The exact ends of a signing key's states, and what is due for the keys of a kind."""

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from mudra.tokens.claims import TokenKind
from mudra.tokens.signing_keys.key_lifecycle import (
    Handover,
    KeyPlan,
    KeyState,
    SigningKey,
    Succession,
    at_once,
    plan,
    published,
    signing,
    succession,
    were_all_just_dropped,
)

CLOCK_TOLERANCE = timedelta(seconds=30)
PUBLISHED_AFTER = timedelta(seconds=3960)

NOW = datetime(2026, 3, 1, tzinfo=UTC)
TICK = timedelta(microseconds=1)
HOUR = timedelta(hours=1)
MONTH = timedelta(days=30)
DAY = timedelta(days=1)
ENTITY, USER = TokenKind.ENTITY, TokenKind.USER


def key(kid: str = "k", kind: TokenKind = ENTITY, **times: datetime | None) -> SigningKey:
    made = times.get("made") or NOW - 90 * DAY
    return SigningKey(
        kid, kind, made, times.get("signs"), times.get("ends"), {}, times.get("revoked")
    )


def due(*keys: SigningKey, now: datetime = NOW, rotate_now: bool = False) -> KeyPlan:
    return plan(keys, now, rotate_after=MONTH, rotate_now=rotate_now)


def test_a_key_is_published_an_hour_before_it_signs_and_after_its_last_token() -> None:
    assert key(made=NOW).usable_from() == NOW + HOUR
    ended = key(signs=NOW - MONTH, ends=NOW)
    assert ended.leaves_jwks_at() == NOW + ENTITY.life + PUBLISHED_AFTER


@pytest.mark.parametrize(
    ("of", "state"),
    [
        (key(), KeyState.PENDING),
        (key(signs=NOW + TICK), KeyState.PENDING),
        (key(signs=NOW), KeyState.ACTIVE),
        (key(signs=NOW - MONTH), KeyState.ACTIVE),
        (key(signs=NOW - MONTH, ends=NOW + TICK), KeyState.ACTIVE),
        (key(signs=NOW - MONTH, ends=NOW), KeyState.RETIRING),
        (
            key(signs=NOW - MONTH, ends=NOW - ENTITY.life - PUBLISHED_AFTER + TICK),
            KeyState.RETIRING,
        ),
        (key(signs=NOW - MONTH, ends=NOW - ENTITY.life - PUBLISHED_AFTER), KeyState.RETIRED),
        (key(signs=NOW - MONTH, revoked=NOW), KeyState.RETIRED),
        (key(signs=NOW - MONTH, revoked=NOW + CLOCK_TOLERANCE), KeyState.RETIRED),
        (key(revoked=NOW), KeyState.RETIRED),
    ],
)
def test_each_state_ends_to_the_microsecond(of: SigningKey, state: KeyState) -> None:
    assert of.state(NOW) is state


def test_without_a_key_one_signs_at_once_and_one_is_made_for_later() -> None:
    assert due() == KeyPlan(True, True, None, ())  # noqa: FBT003
    assert due(key()) == KeyPlan(True, False, None, ())  # noqa: FBT003
    scheduled = key(signs=NOW + HOUR)
    assert due(scheduled) == KeyPlan(True, True, None, ())  # noqa: FBT003


def test_an_active_key_has_one_that_may_follow() -> None:
    active = key("a", signs=NOW - DAY)

    assert due(active) == KeyPlan(False, True, None, ())  # noqa: FBT003
    assert due(active, key("b")) == KeyPlan(False, False, None, ())  # noqa: FBT003
    revoked = key("b", revoked=NOW)
    assert due(active, revoked) == KeyPlan(False, True, None, ("b",))  # noqa: FBT003


def test_a_change_that_is_planned_is_not_planned_again() -> None:
    ending = key("a", signs=NOW - MONTH, ends=NOW + HOUR)
    following = key("b", signs=NOW + HOUR)

    assert due(ending, following) == KeyPlan(False, True, None, ())  # noqa: FBT003
    third = due(ending, following, key("c"), rotate_now=True)
    assert third == KeyPlan(False, False, None, ())  # noqa: FBT003


def test_the_month_ends_to_the_microsecond() -> None:
    young, old = key("a", signs=NOW - MONTH + TICK), key("a", signs=NOW - MONTH)
    pending = key("b")

    assert plan((young, pending), NOW, rotate_after=MONTH).handover is None
    assert due(young, pending) == KeyPlan(False, False, None, ())  # noqa: FBT003
    handover = Handover(old, pending, NOW)
    assert due(old, pending) == KeyPlan(False, True, handover, ())  # noqa: FBT003


def test_on_demand_the_oldest_that_waits_follows_when_all_have_seen_it() -> None:
    active = key("a", signs=NOW - DAY)
    older, younger = key("c", made=NOW - HOUR / 2), key("b", made=NOW - HOUR / 4)

    assert due(active, younger, older, rotate_now=True).handover == Handover(
        active, older, NOW + HOUR / 2
    )
    long_since = key("d", made=NOW - DAY)
    assert due(active, long_since, rotate_now=True).handover == Handover(active, long_since, NOW)


def test_a_node_whose_clock_is_behind_takes_part_in_an_emergency_at_once() -> None:
    dropped = key("a", signs=NOW - DAY, revoked=NOW)
    successor, pending = key("b", signs=at_once(NOW)), key("c", made=NOW)
    keys = [dropped, successor, pending]

    for behind in (timedelta(), timedelta(seconds=20), CLOCK_TOLERANCE):
        assert dropped.state(NOW - behind) is KeyState.RETIRED
        assert signing(keys, ENTITY, NOW - behind) is successor
        assert published(keys, NOW - behind) == [successor, pending]


def test_a_private_part_is_kept_until_no_node_signs_with_it() -> None:
    ended = key("a", signs=NOW - MONTH, ends=at_once(NOW) + TICK)
    keys = (ended, key("b", signs=ended.retires_at), key("c"))

    assert signing(keys, ENTITY, NOW - CLOCK_TOLERANCE) is ended
    assert due(*keys).destroy_private == ()
    assert due(*keys, now=NOW + TICK).destroy_private == ("a",)


def test_the_private_parts_of_keys_that_sign_no_more_are_destroyed() -> None:
    retiring = key("a", signs=NOW - MONTH, ends=at_once(NOW))
    retired = key("b", signs=NOW - 3 * MONTH, ends=NOW - 2 * MONTH)
    active = key("c", signs=NOW)

    assert due(retiring, retired, active, key("d")).destroy_private == ("a", "b")
    assert due(retiring, key("d")).destroy_private == ("a",)
    ending = key("c", signs=NOW - DAY, ends=NOW + DAY)
    assert due(retiring, ending).destroy_private == ("a",)
    assert due(retiring, active).destroy_private == ("a",)


def test_published_are_all_but_retired_ones_the_signing_first() -> None:
    active, other = key("a", signs=NOW - DAY), key("u", USER, signs=NOW - DAY)
    pending, retiring = key("p"), key("r", signs=NOW - MONTH, ends=NOW)
    retired = key("x", signs=NOW - MONTH, revoked=NOW)
    younger = key("q", made=NOW - DAY)

    found = published([retired, retiring, younger, pending, other, active], NOW)

    first, second = sorted((active, other), key=lambda of: of.kind)
    assert [of.kid for of in found] == [first.kid, second.kid, "p", "q", "r"]


def test_the_key_that_began_last_signs_its_own_kind() -> None:
    earlier, later = key("a", signs=NOW - DAY), key("b", signs=NOW)

    assert signing([earlier, later], ENTITY, NOW) is later
    assert signing([later, earlier], ENTITY, NOW) is later
    assert signing([earlier, replace(later, active_from=NOW + TICK)], ENTITY, NOW) is earlier
    assert signing([earlier], USER, NOW) is None
    assert signing([], ENTITY, NOW) is None


def test_after_a_drop_the_oldest_that_waits_signs_or_one_is_made() -> None:
    dropped = key("a", signs=NOW - DAY, revoked=NOW)
    older, younger = key("b", made=NOW - DAY), key("c", made=NOW - HOUR)
    retiring = key("r", signs=NOW - MONTH, ends=NOW - HOUR)

    assert succession(ENTITY, [dropped, younger, older, retiring], NOW) == Succession(
        ENTITY, make_pending=True, appoint=older
    )
    for left in ([dropped, retiring], [], [key("u", USER)], [replace(older, issuer="other")]):
        assert succession(ENTITY, left, NOW) == Succession(
            ENTITY, make_active=True, make_pending=True
        )


def test_a_key_signs_on_where_the_one_that_was_to_follow_is_gone() -> None:
    ending = key("a", signs=NOW - MONTH, ends=NOW + TICK)
    following = key("b", signs=NOW + TICK)
    unscheduled, later = key("c"), key("d", signs=NOW + 2 * TICK)

    assert succession(ENTITY, [ending, following, unscheduled], NOW) == Succession(ENTITY)
    assert succession(ENTITY, [replace(ending, retires_at=None)], NOW) == Succession(ENTITY)
    for left in ([ending], [ending, unscheduled], [ending, later, replace(following, kind=USER)]):
        assert succession(ENTITY, left, NOW) == Succession(ENTITY, signs_on=ending)
    assert succession(ENTITY, [ending, unscheduled], NOW + TICK) == Succession(
        ENTITY, make_pending=True, appoint=unscheduled
    )


def test_a_key_that_has_just_taken_over_from_a_dropped_one_signs_on_nodes_behind_as_well() -> None:
    first = key("a", signs=NOW - MONTH, ends=NOW)
    second = key("b", signs=NOW, ends=NOW + TICK)
    third = key("c", signs=NOW + TICK)
    behind = NOW + CLOCK_TOLERANCE
    dropped = replace(first, revoked_at=NOW)

    def appointed(now: datetime, *left: SigningKey) -> SigningKey | None:
        found = succession(ENTITY, left, now)
        assert found == Succession(ENTITY, appoint=found.appoint)
        return found.appoint

    assert appointed(behind - TICK, dropped, replace(second, retires_at=None)) is not None
    assert appointed(behind, dropped, replace(second, retires_at=None)) is None
    assert appointed(behind, first, third) == third  # what signed between them was dropped
    assert appointed(behind + TICK, first, third) is None
    assert appointed(behind, first, second, third) is None
    assert appointed(behind, first, third, replace(second, kind=USER)) == third
    ending = replace(second, retires_at=behind)
    assert succession(ENTITY, [dropped, ending], behind - TICK) == Succession(
        ENTITY, appoint=ending, signs_on=ending
    )


def test_for_ten_minutes_the_keys_of_an_emergency_are_known_as_just_made() -> None:
    dropped = key("a", signs=NOW - DAY, revoked=NOW)
    made = [key("b", made=NOW, signs=at_once(NOW)), key("c", made=NOW)]
    older, imported = key("d", made=NOW - DAY), replace(key("e"), issuer="https://old.example")
    last = NOW + timedelta(minutes=10)

    assert were_all_just_dropped([dropped, *made], NOW)
    assert were_all_just_dropped([key("f", revoked=NOW - DAY), dropped, *made, imported], NOW)
    assert were_all_just_dropped([dropped, *made], last - TICK)
    assert not were_all_just_dropped([dropped, *made], last)
    assert not were_all_just_dropped([dropped, *made, older], NOW)  # one was dropped, not all
    assert not were_all_just_dropped([replace(dropped, revoked_at=NOW - TICK), *made], NOW)
    assert not were_all_just_dropped(made, NOW)  # the first keys of a network
    assert not were_all_just_dropped([], NOW)
