import ipaddress

import pytest

from mudra.registry.payload.fields.url_rules import AddressPolicy, ip_faults

PUBLIC = AddressPolicy(allow_http=False, allow_private=False)
SPECIAL = [
    "::127.0.0.1",  # IPv4-compatible, RFC 4291 2.5.5.1
    "::7f00:1",
    "64:ff9b:1::a9fe:a9fe",  # local-use NAT64, RFC 8215
    "64:ff9b::a9fe:a9fe",
    "fec0::1",  # site-local, RFC 3879
    "::ffff:0:127.0.0.1",  # IPv4-translated, RFC 2765
    "5f00::1",  # segment routing, RFC 9602
    "3fff::1",  # documentation, RFC 9637
    "2001:db8::1",
    "2002:7f00:1::",  # 6to4 of a loopback address
    "2001::1",  # Teredo
    "fc00::1",
    "fe80::1",
    "::1",
    "100::1",
    "127.0.0.1",
    "10.0.0.1",
    "169.254.169.254",
    "100.64.0.1",
    "192.0.0.1",
    "198.18.0.1",
    "203.0.113.1",
    "240.0.0.1",
    "224.0.0.1",
    "0.0.0.0",
    "192.88.99.1",  # relays of 6to4, RFC 7526
    "192.175.48.1",  # AS112, RFC 7534
    "192.31.196.1",
    "192.52.193.1",
    "2620:4f:8000::1",
]


@pytest.mark.parametrize("text", SPECIAL)
def test_only_global_unicast_addresses_are_reached(text: str) -> None:
    assert ip_faults(ipaddress.ip_address(text), PUBLIC)


@pytest.mark.parametrize("text", ["8.8.8.8", "2606:4700:4700::1111", "2a00:1450::1"])
def test_public_addresses_are_reached(text: str) -> None:
    assert ip_faults(ipaddress.ip_address(text), PUBLIC) == []
