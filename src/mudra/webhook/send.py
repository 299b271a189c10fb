"""Delivers one message to an address that a member or operator chose.

The name is resolved once, all its addresses are checked, and the connection goes to a
checked address: a name that changes in between reaches nothing. No redirect is followed,
no proxy of the environment is used, and only the status of the response is read;
of a challenge, a bounded answer as well.
"""

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from datetime import datetime
from functools import cache, partial
from typing import Final

import httpx2
from msgspec import Struct

from mudra.metrics.notifications.webhook import WaitingMessage
from mudra.registry.payload.fields.url_rules import AnyIp
from mudra.shared.network_address import address_key
from mudra.webhook.failure import why_failed
from mudra.webhook.reach import Reach, literal_ip
from mudra.webhook.sign import signed_headers

_CONNECT_S: Final = 3.0
_WHOLE_S: Final = 10.0
_MAX_ADDRESSES: Final = 4
_HTTPS: Final = 443
_HTTP: Final = 80
_NAMES: Final = ThreadPoolExecutor(4, thread_name_prefix="alarm-names")


class Terms(Struct, frozen=True):
    """The rules for calls to addresses of strangers, next to what holds for all."""

    may_call: Callable[[str], bool] = lambda _: True
    """Counts a call to an IP address; returns whether there were not too many."""
    lookups: Executor = _NAMES
    """Where names are resolved: servers of names that never answer delay no other work."""
    is_answer: Callable[[bytes, bytes], bool] | None = None
    """Returns whether a body is answered rightly; without it, answers are not read."""
    max_answer: int = 0
    """Bytes of an answer."""


_USUAL: Final = Terms()


async def post_signed(
    message: WaitingMessage, now: datetime, reach: Reach, terms: Terms = _USUAL
) -> str:
    """Signs and posts a message; returns why it was not delivered, or nothing."""
    secrets = [one for one in (message.secret, message.previous) if one is not None]
    headers = signed_headers(secrets, message.message_id, now, message.body)
    return await post(message.url, message.body, headers, reach, terms)


async def post(
    url: str, body: bytes, headers: Mapping[str, str], reach: Reach, terms: Terms = _USUAL
) -> str:
    """Posts a body, within 10 seconds in all; returns why it was not delivered, or nothing.

    The problem contains nothing of the response's body.
    """
    fault = reach.url_fault(url)
    if fault is not None:
        return f"the address {fault}"
    try:
        async with asyncio.timeout(_WHOLE_S):
            addresses = await resolved(httpx2.URL(url), terms.lookups)
            for address in addresses:
                fault = reach.ip_fault(address)
                if fault is not None:
                    return f"the host {fault}"
            return await _posted(httpx2.URL(url), addresses, body, headers, terms)
    except TimeoutError:
        return f"no answer within {_WHOLE_S:g} seconds"
    except socket.gaierror:
        return "the host name has no address in the DNS"
    # Of a host that a redirect names and IDNA 2008 forbids: a ValueError.
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
        return why_failed(error)


async def resolved(url: httpx2.URL, lookups: Executor) -> Sequence[AnyIp]:
    """Returns the addresses of a URL's host, not checked yet.

    `lookups` are threads for this alone: those of the loop are for the judging of reports too.
    """
    literal = literal_ip(url.host)
    if literal is not None:
        return [literal]
    port = url.port or (_HTTPS if url.scheme == "https" else _HTTP)
    look_up = partial(
        socket.getaddrinfo, url.raw_host.decode("ascii"), port, type=socket.SOCK_STREAM
    )
    found = await asyncio.get_running_loop().run_in_executor(lookups, look_up)
    # Only link-local addresses have a zone (fe80::1%eth0); they are refused without it as well.
    return [ipaddress.ip_address(str(one[4][0]).partition("%")[0]) for one in found]


@cache
def trusted_authorities() -> ssl.SSLContext:
    """Returns the trusted authorities, read once: it takes longer than many receivers do."""
    return httpx2.create_ssl_context()


async def _posted(
    url: httpx2.URL,
    addresses: Sequence[AnyIp],
    body: bytes,
    headers: Mapping[str, str],
    terms: Terms,
) -> str:
    named = url.netloc.decode("ascii")
    sent = {"Host": named, "Content-Type": "application/json", **headers}
    # The certificate must match the name, independent of the address that is called.
    named_in_tls = {"sni_hostname": url.raw_host.decode("ascii")}
    last: httpx2.HTTPError = httpx2.ConnectError("no address")
    async with httpx2.AsyncClient(
        timeout=httpx2.Timeout(_WHOLE_S, connect=_CONNECT_S),
        follow_redirects=False,
        trust_env=False,
        verify=trusted_authorities(),
    ) as client:
        for address in addresses[:_MAX_ADDRESSES]:
            if not terms.may_call(address_key(str(address))):
                return "too many calls to this host"
            try:
                async with client.stream(
                    "POST",
                    url.copy_with(host=str(address)),
                    content=body,
                    headers=sent,
                    extensions=named_in_tls,
                ) as response:
                    if not response.is_success:
                        return f"the receiver answered {response.status_code}"
                    if terms.is_answer is None:
                        return ""
                    answer = await _answer(response, terms.max_answer)
                    is_right = terms.is_answer(body, answer)
                    return "" if is_right else "the answer is not the challenge"
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                last = error
    raise last


async def _answer(response: httpx2.Response, limit: int) -> bytes:
    """Return a body as it was sent, never unpacked; a longer one is as good as none."""
    read = b""
    async for chunk in response.aiter_raw():
        read += chunk
        if len(read) > limit:
            return b""
    return read
