"""The characters that a text of an email may have."""

import unicodedata
from typing import Final

ENCODED_WORD: Final = "=?"
"""How an encoded word of RFC 2047 begins; decoded in a header, it may contain a line break."""
_JOINERS: Final = frozenset("\u200c\u200d")
"""The joiners that words in Indian scripts need."""
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def unsafe_in_mail(text: str) -> bool:
    """Return whether a text must not go into an email's header or one-line fact."""
    return ENCODED_WORD in text or any(map(_is_unseen, text))


def safe_in_mail(text: str) -> str:
    """Return a text without what could add a header to an email."""
    return "".join(one for one in text if not _is_unseen(one)).replace(ENCODED_WORD, "= ?")


def _is_unseen(char: str) -> bool:
    """Return whether a character controls how others appear; joiners are part of words."""
    return unicodedata.category(char) in _UNSEEN and char not in _JOINERS
