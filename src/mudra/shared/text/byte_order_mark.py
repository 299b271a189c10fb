"""The byte order mark that editors and spreadsheets of Windows write: ignored in all that is read.

At the beginning of files, request bodies and standard input alike (RFC 8259 8.1 permits it).
"""

import codecs
from typing import Final

MARK: Final = codecs.BOM_UTF8
_UTF_16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class NotUtf8(ValueError):
    """A text in UTF-16, as PowerShell writes it by default, or in another encoding."""

    def __init__(self, encoding: str = "UTF-16") -> None:
        super().__init__(f"it is {encoding}: save it as UTF-8")


def without_mark(data: bytes) -> bytes:
    """Return a text in UTF-8 without the mark at its beginning. Raises NotUtf8 for UTF-16."""
    if data.startswith(_UTF_16):
        raise NotUtf8
    return data.removeprefix(MARK)


def text_without_mark(data: bytes) -> str:
    """Return the text of such bytes. Raises NotUtf8 for any other encoding, never with its text."""
    try:
        return without_mark(data).decode()
    except UnicodeDecodeError:
        raise NotUtf8("in another encoding") from None
