"""The proof in the headers of a request to a member's own HTTP, and its addresses."""

from collections.abc import Iterable, Sequence
from typing import Final
from urllib.parse import quote, urlsplit

from mudra.shared.dpop_proof import PresentedProof, urls_of

_LEFT: Final = "/~!$&'()*+,;=:@"
"""What a path may hold as it is (RFC 3986 3.3)."""


def checked_origins(origins: Iterable[str]) -> tuple[str, ...]:
    """Return origins such as https://fip.example.org; raises ValueError for anything else."""
    found = tuple(one.rstrip("/") for one in origins)
    for one in found:
        parts = urlsplit(one)
        if parts.scheme not in {"http", "https"} or one != f"{parts.scheme}://{parts.netloc}":
            raise ValueError(
                f"an origin is scheme and host only, such as https://fip.example.org: {one}"
            )
    return found


def presented_proof(
    values: Sequence[str], method: str, path: str, origins: Sequence[str]
) -> PresentedProof | None:
    """Return the proof of a request, whose path is percent-encoded as sent; None without one."""
    return PresentedProof(tuple(values), method, urls_of(origins, path)) if values else None


def encoded(path: bytes) -> str:
    """Return a decoded path as a client most likely sent it."""
    return quote(path, safe=_LEFT)
