"""Requests to the provider: bounded in time and size, no redirects, no proxy of the environment."""

import asyncio
import ssl
from collections.abc import Mapping
from functools import cache
from typing import Final
from urllib.parse import urlsplit

import httpx2
import msgspec

from mudra.shared.network_address import is_loopback
from mudra.shared.undecodable import UNDECODABLE

MAX_BYTES: Final = 256 * 1024
WHOLE_S: Final = 10.0
_CONNECT_S: Final = 3.0


class ProviderUnreachable(Exception):
    """The provider did not answer as it must; the text is a word for the log, nothing it sent."""


def is_safe(url: str) -> bool:
    """Return whether a URL is https, or of this machine."""
    parts = urlsplit(url)
    return parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname or ""))


async def get_object(url: str) -> Mapping[str, object]:
    """Fetch a JSON object."""
    return await _exchanged(httpx2.Request("GET", url, headers={"Accept": "application/json"}))


async def post_form(
    url: str, form: Mapping[str, str], headers: Mapping[str, str]
) -> Mapping[str, object]:
    """Send a form and return the JSON object that answers it."""
    accepted = {"Accept": "application/json", **headers}
    return await _exchanged(httpx2.Request("POST", url, data=dict(form), headers=accepted))


async def _exchanged(request: httpx2.Request) -> Mapping[str, object]:
    if not is_safe(str(request.url)):
        raise ProviderUnreachable("not-https")
    try:
        async with asyncio.timeout(WHOLE_S):
            return await _answered(request)
    except TimeoutError as error:
        raise ProviderUnreachable("no-answer-in-time") from error
    except (httpx2.HTTPError, OSError) as error:
        raise ProviderUnreachable(type(error).__name__) from error


async def _answered(request: httpx2.Request) -> Mapping[str, object]:
    timeout = httpx2.Timeout(WHOLE_S, connect=_CONNECT_S)
    async with httpx2.AsyncClient(verify=_trusted(), trust_env=False, timeout=timeout) as client:
        response = await client.send(request, stream=True)
        try:
            body = b""
            async for chunk in response.aiter_bytes(16 * 1024):
                body += chunk
                if len(body) > MAX_BYTES:
                    raise ProviderUnreachable("answer-too-large")
        finally:
            await response.aclose()
    if response.status_code != httpx2.codes.OK:
        raise ProviderUnreachable(f"status-{response.status_code}")
    try:
        return msgspec.json.decode(body, type=dict[str, object])
    except UNDECODABLE as error:
        raise ProviderUnreachable("no-json-object") from error


@cache
def _trusted() -> ssl.SSLContext:
    """Returns the trusted authorities, read once."""
    return httpx2.create_ssl_context()
