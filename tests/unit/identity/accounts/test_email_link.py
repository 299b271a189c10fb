"""Quality A12."""

import hashlib
from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from mudra.identity.accounts.email_link import (
    LinkFault,
    LinkPurpose,
    LinkRefused,
    check_link,
    new_link,
    token_hash,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def make(purpose: LinkPurpose = LinkPurpose.INVITE):
    return new_link(
        lambda size: bytes(range(size)),
        user_id="u1",
        address="admin@bank.example",
        purpose=purpose,
        now=NOON,
    )


def test_a_link_holds_256_bits_in_letters_that_need_no_encoding():
    """A12: one-use links."""
    token, _ = make()

    assert token.reveal() == "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
    assert str(token) == "***"


def test_only_the_hash_of_a_link_is_kept():
    """A12: one-use links."""
    token, record = make()

    assert record.token_hash == token_hash(token)
    assert record.token_hash == hashlib.sha256(token.reveal().encode()).digest()
    assert token.reveal() not in repr(record)


def test_a_link_is_bound_to_user_purpose_and_address():
    """A12: one-use links."""
    _, record = make(LinkPurpose.PASSWORD_RESET)

    assert record.user_id == "u1"
    assert record.purpose is LinkPurpose.PASSWORD_RESET
    assert record.address == "admin@bank.example"


@pytest.mark.parametrize(
    ("purpose", "hours"), [(LinkPurpose.INVITE, 24), (LinkPurpose.PASSWORD_RESET, 1)]
)
def test_a_link_is_good_until_its_life_ends(purpose: LinkPurpose, hours: int):
    _, record = make(purpose)
    end = NOON + timedelta(hours=hours)

    assert check_link(record, end - timedelta(seconds=1)) is record
    assert check_link(record, end) == LinkRefused(LinkFault.EXPIRED)


def test_a_used_a_voided_and_an_unknown_link_are_refused():
    _, record = make()

    assert check_link(replace(record, used_at=NOON), NOON) == LinkRefused(LinkFault.USED)
    assert check_link(replace(record, voided_at=NOON), NOON) == LinkRefused(LinkFault.VOIDED)
    assert check_link(None, NOON) == LinkRefused(LinkFault.UNKNOWN)
