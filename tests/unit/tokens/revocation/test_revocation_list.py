"""What the published list of revoked tokens says: times are rounded so that no token outlives it."""

import json
from datetime import UTC, datetime

import pytest

from mudra.tokens.revocation.revocation_list import EndedTokens, revocation_list

NOW = datetime(2026, 3, 1, 12, 0, 30, tzinfo=UTC)


def not_before(at: datetime) -> int:
    sent = json.loads(revocation_list("https://iam.example", EndedTokens([], {"FIP-1": at}), NOW))
    return int(sent["notBefore"]["FIP-1"])


@pytest.mark.parametrize("microsecond", [1, 1000, 500_000, 999_999])
def test_a_token_of_the_second_in_which_its_entity_was_suspended_has_ended(
    microsecond: int,
) -> None:
    """`iat` has whole seconds: one of this second was issued before the end of it."""
    suspended_at = datetime(2026, 3, 1, 12, 0, 7, microsecond, tzinfo=UTC)
    iat = int(suspended_at.timestamp())

    assert iat < not_before(suspended_at)
    assert iat + 1 >= not_before(suspended_at)


def test_a_token_of_the_very_second_that_is_named_is_valid() -> None:
    suspended_at = datetime(2026, 3, 1, 12, 0, 7, tzinfo=UTC)

    assert not_before(suspended_at) == int(suspended_at.timestamp())


def test_a_list_is_valid_for_ten_minutes_and_in_one_order() -> None:
    ended = EndedTokens(["b", "a"], {"Z-FIP": NOW, "A-FIP": NOW})

    sent = json.loads(revocation_list("https://iam.example", ended, NOW))

    assert sent["revoked"] == ["a", "b"]
    assert list(sent["notBefore"]) == ["A-FIP", "Z-FIP"]
