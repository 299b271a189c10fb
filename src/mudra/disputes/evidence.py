"""Evidence: files of a member, bounded in size, kind and number. Pure.

The kind is read from the content: what a name says may be wrong. No kind is one that a browser
runs, and no page shows one inside of itself: files are only downloaded.
"""

import base64
import binascii
import hashlib
import re
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from mudra.shared.refusal import PlainRefusal, RefusalKind, ValueRefused
from mudra.shared.text.visible_text import first_unseen

MAX_BYTES: Final = 2 * 1024 * 1024
MAX_FILES: Final = 5
"""Of one dispute."""
MAX_FILES_A_DAY: Final = 20
"""Of one member in 24 hours: 40 MB at most."""
DAY: Final = timedelta(hours=24)
MAX_NAME: Final = 100
_SIGNATURES: Final = (
    (b"%PDF-", "application/pdf"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
)
TEXT: Final = "text/plain"
_ALLOWED: Final = "PDF, PNG, JPEG, or text in UTF-8 such as a log, CSV or JSON"
_LAYOUT: Final = "\n\r\t\f"
_NOT_IN_NAMES: Final = re.compile(r'[/\\:*?"<>|%;]')

TOO_MANY_FILES: Final = PlainRefusal(
    RefusalKind.CONFLICT,
    f"a dispute has at most {MAX_FILES} files: join them into one, or name where they can be had",
)
TOO_MANY_FILES_TODAY: Final = PlainRefusal(
    RefusalKind.CONFLICT,
    f"a member attaches at most {MAX_FILES_A_DAY} files in 24 hours: attach it later",
)


class Evidence(Struct, frozen=True):
    """A file without its content; `sha256` in hexadecimal."""

    evidence_id: str
    name: str
    media_type: str
    size: int
    sha256: str
    added_by: str
    added_at: datetime


def media_type_of(content: bytes) -> str | None:
    """Return the kind of a file by its content; None for one that is not accepted."""
    for begin, media_type in _SIGNATURES:
        if content.startswith(begin):
            return media_type
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if first_unseen(text.removeprefix("\ufeff"), _LAYOUT) else TEXT


def new_evidence(
    name: str, content: bytes, evidence_id: str, added_by: str, now: datetime
) -> Evidence | ValueRefused:
    """Return what is stored of a file, or which limit it breaks."""
    shown = name.strip()
    if not 0 < len(shown) <= MAX_NAME or first_unseen(shown) or _NOT_IN_NAMES.search(shown):
        problem = f"must be a file name of 1 to {MAX_NAME} characters, without a path"
        return ValueRefused("name", problem)
    if not 0 < len(content) <= MAX_BYTES:
        problem = f"must hold 1 to {MAX_BYTES:,} bytes; this file has {len(content):,}"
        return ValueRefused("content", problem)
    media_type = media_type_of(content)
    if media_type is None:
        return ValueRefused("content", f"must be {_ALLOWED}")
    return Evidence(
        evidence_id,
        shown,
        media_type,
        len(content),
        hashlib.sha256(content).hexdigest(),
        added_by,
        now,
    )


def read_base64(text: str) -> bytes | ValueRefused:
    """Return what a text in Base64 holds, or that it holds nothing readable."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return ValueRefused("content", "must be in Base64 (RFC 4648), with its padding")
