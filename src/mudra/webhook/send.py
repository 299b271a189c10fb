"""Delivers one message to an address that a member or operator chose (quality I11).

The name is resolved once, all its addresses are checked, and the connection goes to a
checked address: a name that changes in between reaches nothing. No redirect is followed,
no proxy of the environment is used, and only the status of the response is read.
"""

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Final

import httpx

from mudra.metrics.notifications.webhook import WaitingMessage
from mudra.registry.payload.fields.url_rules import AnyIp
from mudra.webhook.reach import Reach, literal_ip
from mudra.webhook.sign import signed_headers

_CONNECT_S: Final = 3.0
_WHOLE_S: Final = 10.0
_MAX_ADDRESSES: Final = 4
_HTTPS: Final = 443
_HTTP: Final = 80


async def post_signed(message: WaitingMessage, now: datetime, reach: Reach) -> str:
    """Signs and posts a message; returns why it was not delivered, or nothing."""
    secrets = [one for one in (message.secret, message.previous) if one is not None]
    headers = signed_headers(secrets, message.message_id, now, message.body)
    return await post(message.url, message.body, headers, reach)


async def post(url: str, body: bytes, headers: Mapping[str, str], reach: Reach) -> str:
    """Posts a body, within 10 seconds in all; returns why it was not delivered, or nothing.

    The problem contains nothing of the response's body.
    """
    fault = reach.url_fault(url)
    if fault is not None:
        return f"the address {fault}"
    try:
        async with asyncio.timeout(_WHOLE_S):
            addresses = await resolved(httpx.URL(url))
            for address in addresses:
                fault = reach.ip_fault(address)
                if fault is not None:
                    return f"the host {fault}"
            return await _posted(httpx.URL(url), addresses, body, headers)
    except TimeoutError:
        return f"no answer within {_WHOLE_S:g} seconds"
    except socket.gaierror:
        return "the host has no address"
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        return f"the call failed: {type(error).__name__}"


async def resolved(url: httpx.URL) -> Sequence[AnyIp]:
    """Returns the addresses of a URL's host, not checked yet."""
    literal = literal_ip(url.host)
    if literal is not None:
        return [literal]
    port = url.port or (_HTTPS if url.scheme == "https" else _HTTP)
    found = await asyncio.get_running_loop().getaddrinfo(
        url.raw_host.decode("ascii"), port, type=socket.SOCK_STREAM
    )
    # Only link-local addresses have a zone (fe80::1%eth0); they are refused without it as well.
    return [ipaddress.ip_address(str(one[4][0]).partition("%")[0]) for one in found]


@cache
def trusted_authorities() -> ssl.SSLContext:
    """Returns the trusted authorities, read once: it takes longer than many receivers do."""
    return httpx.create_ssl_context(trust_env=False)


async def _posted(
    url: httpx.URL, addresses: Sequence[AnyIp], body: bytes, headers: Mapping[str, str]
) -> str:
    named = url.netloc.decode("ascii")
    sent = {"Host": named, "Content-Type": "application/json", **headers}
    # The certificate must match the name, independent of the address that is called.
    named_in_tls = {"sni_hostname": url.raw_host.decode("ascii")}
    last: httpx.HTTPError = httpx.ConnectError("no address")
    async with httpx.AsyncClient(
        timeout=httpx.Timeout(_WHOLE_S, connect=_CONNECT_S),
        follow_redirects=False,
        trust_env=False,
        verify=trusted_authorities(),
    ) as client:
        for address in addresses[:_MAX_ADDRESSES]:
            try:
                async with client.stream(
                    "POST",
                    url.copy_with(host=str(address)),
                    content=body,
                    headers=sent,
                    extensions=named_in_tls,
                ) as response:
                    if response.is_success:
                        return ""
                    return f"the receiver answered {response.status_code}"
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                last = error
    raise last
