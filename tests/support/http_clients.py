"""HTTP clients of tests: each speaks from a loopback address of its own.

Every test that may fail sign-ins needs one, since failures are counted by address.
"""

import itertools
import os
import ssl

import httpx2

NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""One for all: to load the authorities' certificates takes 40 ms for each client."""
_addresses = itertools.count(2)


def client_of(base_url: str, address: str | None = None, kept: int = 20) -> httpx2.Client:
    """Return a client that speaks from an address, and keeps some connections."""
    limits = httpx2.Limits(max_connections=100, max_keepalive_connections=kept)  # as by default
    transport = httpx2.HTTPTransport(
        local_address=address or new_address(), verify=NO_TLS, limits=limits
    )
    return httpx2.Client(base_url=base_url, transport=transport)


def new_address() -> str:
    """A loopback address that no other test of this process uses."""
    n = next(_addresses) + (os.getpid() % 200) * 1000
    return f"127.{1 + n // 65025 % 250}.{n // 255 % 255}.{1 + n % 254}"
