"""X-Forwarded-For as proxies write it (RFC 9110 5.6.1.2)."""

from ipaddress import ip_network

import pytest

from mudra.server_protocol.client_address import client_address

TRUSTED = (ip_network("10.0.0.0/8"),)


@pytest.mark.parametrize(
    "lines",
    [
        ["203.0.113.9"],
        ["203.0.113.9,"],
        ["203.0.113.9, ,"],
        [", 203.0.113.9 ,, 10.0.0.2"],
        ["203.0.113.9:51234"],
        ["203.0.113.9:"],
        ['"203.0.113.9:51234"'],
        ['"203.0.113.9"', '"[::ffff:10.0.0.4]:80"'],
        ["::ffff:203.0.113.9"],
        ["203.0.113.9", ""],
        ["203.0.113.9,", ",10.0.0.3"],
        ["198.51.100.1, 203.0.113.9"],
        ["unknown, 203.0.113.9\t"],
    ],
)
def test_empty_elements_are_none(lines: list[str]) -> None:
    assert client_address("10.0.0.1", lines, TRUSTED) == "203.0.113.9"


@pytest.mark.parametrize("lines", [[""], [",,"], [" , "], ["unknown"], ["_hidden"]])
def test_a_list_without_an_address_gives_the_proxy(lines: list[str]) -> None:
    assert client_address("10.0.0.1", lines, TRUSTED) == "10.0.0.1"


@pytest.mark.parametrize(
    "entry",
    ["2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:443,", "[2001:db8::1]:", '"[2001:db8::1]:443"',
     "[2001:db8::1%eth0]:443"],
)  # fmt: skip  # of one address
def test_an_address_of_version_6_may_have_a_port(entry: str) -> None:
    assert client_address("10.0.0.1", [entry], TRUSTED) == "2001:db8::1"
