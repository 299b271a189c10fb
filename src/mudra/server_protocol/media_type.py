"""The `Content-Type` of a request (RFC 9110, 8.3)."""

import re
from functools import lru_cache
from typing import Final

from msgspec import Struct

_WORD: Final = r"[A-Za-z0-9!#$%&'*+.^_`|~-]+"
_TYPE: Final = re.compile(rf"[ \t]*({_WORD}/{_WORD})[ \t]*")
_PARAMETER: Final = re.compile(
    rf';[ \t]*(?:({_WORD})=(?:({_WORD})|"((?:[^"\\\x00-\x1f]|\\.)*)"))?[ \t]*'
)


class MediaType(Struct, frozen=True):
    """A media type in lower case, with its charset or `""`."""

    name: str
    charset: str

    def is_utf8(self, name: str) -> bool:
        """Return whether this is `name`, in UTF-8 or with no charset named."""
        return self.name == name and self.charset in {"", "utf-8", "utf8"}


UNREADABLE: Final = MediaType("", "")
"""No header, or one that breaks the grammar. Equal to no type that is allowed."""


@lru_cache(maxsize=64)
def media_type(header: str) -> MediaType:
    """Read a `Content-Type` header; `UNREADABLE` when it is none.

    A repeated parameter makes it unreadable: readers could disagree about its value.
    """
    start = _TYPE.match(header)
    if not start:
        return UNREADABLE
    at = start.end()
    parameters: dict[str, str] = {}
    while at < len(header):
        parameter = _PARAMETER.match(header, at)
        if not parameter:
            return UNREADABLE
        at = parameter.end()
        if parameter[1] is None:
            continue
        name = parameter[1].lower()
        if name in parameters:
            return UNREADABLE
        quoted: str | None = parameter[3]
        parameters[name] = parameter[2] if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
    return MediaType(start[1].lower(), parameters.get("charset", "").lower())
