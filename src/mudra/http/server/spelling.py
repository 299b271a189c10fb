"""Addresses that a proxy in front and the router behind could read differently."""

from typing import Final

from litestar.types import Scope

_ENCODED: Final = (b"%2f", b"%5c", b"%00")
"""A slash, a backslash and a NUL, which no address here has within a part."""
_DOTS: Final = frozenset({".", ".."})


def has_second_spelling(scope: Scope) -> bool:
    """Return whether a path is none of ours, though another program may take it for one.

    A rule of a proxy for `/operator/` does not see `//operator/`, `/%2Foperator/` or `/a/../x`.
    """
    raw: bytes = scope["raw_path"]
    if b"//" in raw or b"\\" in raw:
        return True
    if b"%" in raw:
        lower = raw.lower()
        if any(one in lower for one in _ENCODED):
            return True
    path: str = scope["path"]
    return "/." in path and not _DOTS.isdisjoint(path.split("/"))
