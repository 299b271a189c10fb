"""The URL that a DPoP proof names, compared with the URLs of its request (RFC 9449 4.3).

Syntax-based and scheme-based normalization of RFC 3986 (6.2.2, 6.2.3), so that the same resource
may be written in several ways, and never two resources in one. Dot segments are not removed: which
program on the way does that is not known, so that a path with one equals nothing.
"""

import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

_MAX_LENGTH: Final = 2048
_DEFAULT_PORTS: Final = {"https": 443, "http": 80}
_VISIBLE: Final = re.compile(r"[!-~]+")
_PERCENT: Final = re.compile(r"%([0-9A-Fa-f]{2})?")
_UNRESERVED: Final = re.compile(r"[A-Za-z0-9._~-]")
_DOTS: Final = frozenset({".", ".."})


def is_same_url(one: str, other: str) -> bool:
    """Return whether two URLs name the same resource, apart from query and fragment."""
    normalized = _normalized(one)
    # What is no URL equals nothing, not even another that is none.
    return normalized is not None and normalized == _normalized(other)


def urls_of(origins: Iterable[str], path: str) -> tuple[str, ...]:
    """Return the URLs of a request under each origin; its path is percent-encoded, as it was sent.

    The host of the request is not asked for, because its sender chooses it: a peer to whom a proof
    was sent could use it here.
    """
    # A path without its slash would become a part of the host, and a `#` in it would end it.
    below = path.partition("?")[0].removeprefix("/").replace("#", "%23")
    return tuple(f"{origin}/{below}" for origin in origins)


def _normalized(url: str) -> tuple[str, str, int | None, str] | None:
    """Return scheme, host, port and path; None for what is no URL that can be compared."""
    # Line breaks and tabs are no part of a URL, and would be dropped.
    if len(url) > _MAX_LENGTH or not _VISIBLE.fullmatch(url):
        return None
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    path = _normalized_path(parts.path)
    if not parts.hostname or parts.username is not None or path is None:
        return None
    scheme = parts.scheme.lower()
    if port is None:
        port = _DEFAULT_PORTS.get(scheme)
    return scheme, parts.hostname, port, path or "/"


def _normalized_path(path: str) -> str | None:
    try:
        normalized = _PERCENT.sub(_normalized_octet, path)
    except ValueError:
        return None
    return None if _DOTS & set(normalized.split("/")) else normalized


def _normalized_octet(found: re.Match[str]) -> str:
    """Decode an unreserved character; all others, such as `/`, mean something else encoded."""
    if found[1] is None:
        raise ValueError
    character = chr(int(found[1], 16))
    return character if _UNRESERVED.fullmatch(character) else found[0].upper()
