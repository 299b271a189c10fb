"""The address of a member's API, as its registry entry has it."""

import re
from typing import Final
from urllib.parse import urlsplit

_VERSIONED: Final = re.compile(r"v(\d+):(https?://\S+)", re.IGNORECASE)


def api_address(baseurl: str) -> str:
    """Return the URL of the highest version in `v1:URL,v2:URL`, or a bare URL; empty for none."""
    found: list[tuple[int, str]] = []
    for part in baseurl.split(","):
        versioned = _VERSIONED.fullmatch(part.strip())
        number, url = (int(versioned[1]), versioned[2]) if versioned else (0, part.strip())
        try:
            parts = urlsplit(url)
        except ValueError:
            continue
        if parts.scheme in {"http", "https"} and parts.hostname:
            found.append((number, url.rstrip("/")))
    return max(found)[1] if found else ""
