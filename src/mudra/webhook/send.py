"""Deliver one message to an address that somebody else chose (quality I11).

The name is resolved once, every address of it is judged, and the connection
goes to a judged address: a name that changes its mind between the two finds
nobody. No redirect is followed, no proxy of the environment asked, and of the
answer only the status is read.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Mapping, Sequence
from typing import Final

import httpx
from msgspec import Struct

from mudra.registry.payload.url_rules import AnyIp
from mudra.webhook.reach import Reach, literal_ip

_CONNECT_S: Final = 3.0
_WHOLE_S: Final = 10.0
_MAX_ADDRESSES: Final = 4
_HTTPS: Final = 443
_HTTP: Final = 80


class Taken(Struct, frozen=True):
    """The receiver answered 2xx."""


class NotTaken(Struct, frozen=True):
    """It did not; the words hold nothing of what it answered."""

    problem: str


async def send(url: str, body: bytes, headers: Mapping[str, str], reach: Reach) -> Taken | NotTaken:
    """Post a message, within 10 seconds in all."""
    fault = reach.url_fault(url)
    if fault is not None:
        return NotTaken(f"the address {fault}")
    try:
        async with asyncio.timeout(_WHOLE_S):
            addresses = await _resolved(httpx.URL(url))
            for address in addresses:
                fault = reach.ip_fault(address)
                if fault is not None:
                    return NotTaken(f"the host {fault}")
            return await _posted(httpx.URL(url), addresses, body, headers)
    except TimeoutError:
        return NotTaken(f"no answer within {_WHOLE_S:g} seconds")
    except socket.gaierror:
        return NotTaken("the host has no address")
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        return NotTaken(f"the call failed: {type(error).__name__}")


async def _resolved(url: httpx.URL) -> Sequence[AnyIp]:
    literal = literal_ip(url.host)
    if literal is not None:
        return [literal]
    port = url.port or (_HTTPS if url.scheme == "https" else _HTTP)
    found = await asyncio.get_running_loop().getaddrinfo(
        url.raw_host.decode("ascii"), port, type=socket.SOCK_STREAM
    )
    # A zone (fe80::1%eth0) is of a link-local address, which is refused without it, too.
    return [ipaddress.ip_address(str(one[4][0]).partition("%")[0]) for one in found]


async def _posted(
    url: httpx.URL, addresses: Sequence[AnyIp], body: bytes, headers: Mapping[str, str]
) -> Taken | NotTaken:
    named = url.netloc.decode("ascii")
    sent = {"Host": named, "Content-Type": "application/json", **headers}
    # The certificate must be of the name, whatever address is called.
    named_in_tls = {"sni_hostname": url.raw_host.decode("ascii")}
    last: httpx.HTTPError = httpx.ConnectError("no address")
    async with httpx.AsyncClient(
        timeout=httpx.Timeout(_WHOLE_S, connect=_CONNECT_S),
        follow_redirects=False,
        trust_env=False,
    ) as client:
        for address in addresses[:_MAX_ADDRESSES]:
            try:
                async with client.stream(
                    "POST",
                    url.copy_with(host=str(address)),
                    content=body,
                    headers=sent,
                    extensions=named_in_tls,
                ) as answer:
                    if answer.is_success:
                        return Taken()
                    return NotTaken(f"the receiver answered {answer.status_code}")
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                last = error
    raise last
