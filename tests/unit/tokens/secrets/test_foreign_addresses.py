"""Addresses are compared with those that a live entry lists."""

from datetime import UTC, datetime

import pytest

from mudra.tokens.secrets.foreign_addresses import EntityUse, report_addresses

AT = datetime(2026, 11, 22, tzinfo=UTC)
IPS = ["203.0.113.7", "198.51.100.0/24", "2001:db8::/64"]


@pytest.mark.parametrize(
    ("address", "listed"),
    [
        ("203.0.113.7", True),
        ("203.0.113.8", False),
        ("198.51.100.255", True),
        ("198.51.101.0", False),
        ("::ffff:203.0.113.7", True),
        ("2001:db8::ffff", True),
        ("2001:db8:0:1::1", False),
        ("", False),
        ("not an address", False),
        ("(others)", False),
    ],
)
def test_an_address_is_listed_or_foreign(address: str, listed: bool) -> None:
    report = report_addresses([EntityUse("A-FIP", address, 3, AT)], {"A-FIP": IPS, "B-FIP": []})

    assert (report.listed, len(report.foreign)) == ((1, 0) if listed else (0, 1))
    assert report.unbound == []


def test_who_lists_nothing_is_named_apart() -> None:
    uses = [EntityUse(one, "203.0.113.7", 1, AT) for one in ("B-FIP", "C-FIP", "B-FIP", "A-FIP")]

    report = report_addresses(uses, {"A-FIP": IPS, "B-FIP": []})

    assert report.unbound == ["B-FIP", "C-FIP"]
    assert report.foreign == []
