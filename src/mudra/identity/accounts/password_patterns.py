"""Texts that one rule writes: a repeated piece, or a walk over keyboard or alphabet.

NIST 800-63B-4 3.1.1.2 asks to refuse them whatever their length. All lengths
are characters of the folded text; the caller bounds it, so the cost is bounded.
"""

from typing import Final

from mudra.identity.accounts.password_blocklist import keyboard_neighbours

_MIN_CHARACTERS: Final = 5
_MIN_LETTERS: Final = 8
# Measured over 20,000 texts of English words in a row: together they refuse 1 in 1,000 of
# those ("coltrewardedseeded"), and every walk of the test's table.
_WALKS: Final = ((4, 0.7), (3, 0.85))
_WOVEN_WALK: Final = (4, 0.8)


def is_repetition(text: str) -> bool:
    """Return whether few characters, or one piece again and again, make up the text.

    Signs and numbers between and after the pieces do not hide it:
    `summer-1-summer-2` repeats `summer`.
    """
    if len(set(text)) < _MIN_CHARACTERS:
        return True
    letters = "".join(char for char in text if char.isalpha())
    forms = [text, "".join(char for char in text if char.isalnum())]
    if len(letters) >= max(_MIN_LETTERS, len(text) // 2):
        forms.append(letters)
    return any(_is_one_piece(form) for form in forms)


def is_walk(text: str) -> bool:
    """Return whether most of the text walks from key to neighboring key, or along the alphabet.

    Two walks woven into each other (`q1w2e3r4…`) count too.
    """
    plain = "".join(char for char in text if char.isalnum())
    woven = plain[::2] + plain[1::2]
    return any(
        _walked(form, shortest) > share for form in (text, plain) for shortest, share in _WALKS
    ) or (_walked(woven, _WOVEN_WALK[0]) > _WOVEN_WALK[1])


def _is_one_piece(text: str) -> bool:
    """Return whether a piece appears at least twice in full; its last repeat may be cut off."""
    return any(text.startswith(text[size:]) for size in range(1, len(text) // 2 + 1))


def _walked(text: str, shortest: int) -> float:
    """Return the share of characters in walks of at least `shortest`."""
    covered = begin = 0
    for end in range(1, len(text) + 1):
        if end < len(text) and _is_step(text[end - 1], text[end]):
            continue
        covered += end - begin if end - begin >= shortest else 0
        begin = end
    return covered / len(text) if text else 0.0


def _is_step(here: str, there: str) -> bool:
    if here == there:
        return True
    if here.isalnum() and there.isalnum() and abs(ord(here) - ord(there)) == 1:
        return True
    return there in keyboard_neighbours().get(here, ())
