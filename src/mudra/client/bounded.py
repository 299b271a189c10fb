"""Response bodies of bounded length: a response of gigabytes must not fill a program's memory."""

from typing import Final

import httpx2

MAX_BYTES: Final = 64 * 1024


def read_bounded(response: httpx2.Response) -> bytes:
    """Return the body of a streamed response, cut after 64 KiB."""
    body = b""
    for chunk in response.iter_bytes(16 * 1024):
        body += chunk
        if len(body) >= MAX_BYTES:
            break
    return body[:MAX_BYTES]


async def aread_bounded(response: httpx2.Response) -> bytes:
    """Return the body of a response streamed on an event loop, cut after 64 KiB."""
    body = b""
    async for chunk in response.aiter_bytes(16 * 1024):
        body += chunk
        if len(body) >= MAX_BYTES:
            break
    return body[:MAX_BYTES]
