"""Which addresses an entry's `ips` list, and when others are refused."""

import pytest

from mudra.tokens.secrets.address_binding import (
    AddressBinding,
    is_enforced,
    is_listed,
    networks_of,
)

LISTED = networks_of(["203.0.113.7", "198.51.100.0/28", "2001:db8::7", "2001:db8:1::/48"])


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("203.0.113.7", True),
        ("203.0.113.8", False),
        ("198.51.100.15", True),
        ("198.51.100.16", False),
        ("::ffff:203.0.113.7", True),
        ("::ffff:198.51.100.3", True),
        ("::ffff:198.51.100.16", False),
        ("2001:db8::7", True),
        ("2001:0DB8:0::0007", True),
        ("2001:db8::8", False),
        ("2001:db8:1:ffff::1", True),
        ("2001:db8:2::1", False),
        ("", False),
        ("unix:", False),
        ("203.0.113.7.example.org", False),
        ("0xcb.0.113.7", False),
    ],
)
def test_an_address_is_listed_by_itself_or_by_a_range(address: str, expected: bool) -> None:
    assert is_listed(address, LISTED) is expected


@pytest.mark.parametrize(
    ("own", "network", "listed", "expected"),
    [
        (AddressBinding.NETWORK, False, ["203.0.113.7"], False),
        (AddressBinding.NETWORK, True, ["203.0.113.7"], True),
        (AddressBinding.NETWORK, True, [], False),
        (AddressBinding.WATCH, True, ["203.0.113.7"], False),
        (AddressBinding.ENFORCE, False, ["203.0.113.7"], True),
        (AddressBinding.ENFORCE, False, [], True),
    ],
)
def test_the_own_choice_and_the_network_s_decide_together(
    own: AddressBinding, network: bool, listed: list[str], expected: bool
) -> None:
    assert is_enforced(own, listed, network_enforces=network) is expected
