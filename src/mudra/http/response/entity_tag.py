"""Conditional requests: whether the caller has the response already (RFC 9110 13.1.2)."""

import hashlib
import re
from typing import Final

from mudra.http.request.request_context import AnyRequest

_MARKED: Final = re.compile(r'(?:[-;:+]{1,2}(?:gzip|br|zstd|deflate)){1,4}"\Z|(?<=")-gzip\Z')
"""What proxies append to an ETag whose body they have packed, each of a chain: Apache, Jetty and
others within the quotes, older ones of Apache behind them."""


def entity_tag(body: bytes) -> str:
    """Return the ETag of a body: a digest, so that all nodes agree."""
    return f'"{hashlib.sha256(body).hexdigest()[:32]}"'


def has_it(request: AnyRequest, tag: str) -> bool:
    """Return whether `If-None-Match` names this ETag, or any.

    Also as intermediaries change it: weak (nginx), or with the name of a packing (Apache).
    """
    lines = request.headers.getall("if-none-match", [])
    known = {one.strip().removeprefix("W/") for line in lines for one in line.split(",")}
    return "*" in known or tag in known or tag in {_unmarked(one) for one in known}


def _unmarked(known: str) -> str:
    found = _MARKED.search(known)
    return f'{known[: found.start()].rstrip(chr(34))}"' if found else known
