"""Names from outside, made fit to be repeated in a message."""

from typing import Final

MAX_SHOWN: Final = 64


def printable(name: str) -> str:
    """Give `name` cut to 64 characters, with control and invisible characters escaped."""
    cut = name[:MAX_SHOWN]
    text = "".join(c if c.isprintable() and c not in '"\\' else _escaped(c) for c in cut)
    return text if len(name) <= MAX_SHOWN else f"{text}…"


def _escaped(character: str) -> str:
    return (
        character.encode("unicode_escape").decode() if character not in '"\\' else f"\\{character}"
    )
