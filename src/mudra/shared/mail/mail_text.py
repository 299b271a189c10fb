"""The characters that a text of an email may have."""

from typing import Final

from mudra.shared.text.visible_text import first_unseen, without_unseen

ENCODED_WORD: Final = "=?"
"""How an encoded word of RFC 2047 begins; decoded in a header, it may contain a line break."""


def unsafe_in_mail(text: str) -> bool:
    """Return whether a text must not go into an email's header or one-line fact."""
    return ENCODED_WORD in text or bool(first_unseen(text))


def safe_in_mail(text: str) -> str:
    """Return a text without what could add a header to an email."""
    return without_unseen(text).replace(ENCODED_WORD, "= ?")
