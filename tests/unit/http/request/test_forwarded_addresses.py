"""The client's address as proxies write it: X-Forwarded-For (RFC 9110 5.6.1.2), Forwarded (RFC 7239)."""

from ipaddress import ip_network

import pytest

from mudra.server_protocol.client_address import ForwardedHeader, TrustedProxies, client_address

NETWORKS = (ip_network("10.0.0.0/8"), ip_network("2001:db8:9::/48"))
PROXY = "10.0.0.1"


def read(lines: list[str], header: ForwardedHeader = "x-forwarded-for") -> str:
    headers = [(header.encode(), line.encode("latin-1")) for line in lines]
    return client_address(PROXY, headers, TrustedProxies(NETWORKS, header))


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
    assert read(lines) == "203.0.113.9"


@pytest.mark.parametrize("lines", [[""], [",,"], [" , "], ["unknown"], ["_hidden"]])
def test_a_list_without_an_address_gives_the_proxy(lines: list[str]) -> None:
    assert read(lines) == PROXY


@pytest.mark.parametrize(
    "entry",
    ["2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:443,", "[2001:db8::1]:", '"[2001:db8::1]:443"',
     "[2001:db8::1%eth0]:443"],
)  # fmt: skip  # of one address
def test_an_address_of_version_6_may_have_a_port(entry: str) -> None:
    assert read([entry]) == "2001:db8::1"


@pytest.mark.parametrize(
    "lines",
    [
        ["for=203.0.113.9"],
        ["For=203.0.113.9;Proto=https;By=10.0.0.1"],
        ["proto=https ; for=203.0.113.9 ; host=registry.example"],  # blanks that some write
        ["for=203.0.113.9:51234"],  # a colon without its quotes
        ['for="203.0.113.9:51234"'],
        ['for="203.0.113.9:_port7"'],
        ['for="[::ffff:203.0.113.9]:80"'],
        ['for="203.0.113\\.9"'],  # an escape that none needs
        ["for=198.51.100.1, for=203.0.113.9"],
        ["for=203.0.113.9,"],
        [", ,for=203.0.113.9;;, , for=10.0.0.2;proto=http ,"],
        ["for=203.0.113.9", "for=10.0.0.2", ""],
        ['for=203.0.113.9;host="a, for=6.6.6.6"'],  # a comma within quotes
        ['for=203.0.113.9;host="a\\", for=\\"6.6.6.6"'],
        ['for="6.6.6.6, for=203.0.113.9'],  # a quote that the client has left open
        ['for=6.6.6.6;by=", for="203.0.113.9"'],
        ["for=_hidden, for=unknown, for=203.0.113.9"],
        ['for=203.0.113.9, for="[2001:db8:9::7]:8443"'],
    ],
)
def test_the_for_of_an_element_is_the_client(lines: list[str]) -> None:
    assert read(lines, "forwarded") == "203.0.113.9"


@pytest.mark.parametrize(
    "line",
    [
        "", ",,", " ; ", "for=", "for", "for=unknown", 'for="unknown"', "for=_hidden",
        'for="_SEVKISEK"', "proto=https", "by=203.0.113.9", "203.0.113.9", "for=203.0.113.9;for=6.6.6.6",
        'for="203.0.113.9', "for=203.0.113.9, for=unknown", "for = 203.0.113.9", "for=203.0.113.9 6.6.6.6",
        "for=203.0.113.9, proto=https", "for=a.example",
    ],
)  # fmt: skip  # of one outcome
def test_an_element_without_an_address_gives_the_proxy(line: str) -> None:
    assert read([line], "forwarded") == PROXY


def test_a_client_cannot_name_itself_in_the_header_that_the_proxy_does_not_write() -> None:
    """One header is read, so what the proxy passes on in the other one has no effect."""
    both = [(b"forwarded", b"for=203.0.113.9"), (b"x-forwarded-for", b"198.51.100.7")]

    def seen(header: ForwardedHeader) -> str:
        return client_address(PROXY, both, TrustedProxies(NETWORKS, header))

    assert seen("x-forwarded-for") == "198.51.100.7"
    assert seen("forwarded") == "203.0.113.9"
    assert client_address(PROXY, both[:1], TrustedProxies(NETWORKS)) == PROXY
    assert client_address(PROXY, both, TrustedProxies()) == PROXY
    assert client_address("192.0.2.1", both, TrustedProxies(NETWORKS)) == "192.0.2.1"


@pytest.mark.parametrize(
    "piece", ["a=", "a=b=", "a,", 'a="', '",', ",=", 'a=b;a="x,', "\\,", "; ;,"]
)
def test_a_long_header_is_read_in_one_pass(piece: str) -> None:
    """None of these makes the reader try one piece in many ways, which would take for ever."""
    assert read([piece * (16_384 // len(piece)) + '";x"'], "forwarded") == PROXY
