"""Which addresses an entry's `ips` list, and when others are refused."""

import pytest

from mudra.tokens.secrets.address_binding import (
    AddressBinding,
    ChosenBinding,
    is_enforced,
    is_listed,
    networks_of,
    switched,
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


N, W, E = AddressBinding.NETWORK, AddressBinding.WATCH, AddressBinding.ENFORCE


@pytest.mark.parametrize(
    ("own", "wanted", "by_member", "by_operator"),
    [
        ((N, False), E, (E, False), (E, False)),
        ((E, False), N, (N, False), (N, False)),
        ((N, False), W, (W, False), (W, True)),  # a member is refused before
        ((W, True), N, (W, True), (N, False)),
        ((W, True), E, (E, True), (E, False)),
        ((E, True), N, (W, True), (N, False)),
        ((E, True), W, (W, True), (W, True)),
        # Nothing is switched: a form that is saved as it was ends no exemption.
        ((E, True), E, (E, True), (E, True)),
        ((W, True), W, (W, True), (W, True)),
    ],
)
def test_only_an_operator_ends_an_exemption(
    own: tuple[AddressBinding, bool],
    wanted: AddressBinding,
    by_member: tuple[AddressBinding, bool],
    by_operator: tuple[AddressBinding, bool],
) -> None:
    before = ChosenBinding(*own)

    assert switched(before, wanted, is_operator=False) == ChosenBinding(*by_member)
    assert switched(before, wanted, is_operator=True) == ChosenBinding(*by_operator)


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
