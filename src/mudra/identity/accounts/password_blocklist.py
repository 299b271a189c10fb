"""Common passwords and keyboards, from the file that `tools/password_lists.py` writes.

It is read once, at the first use.
"""

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

LISTS: Final = Path(__file__).with_name("password_lists.json")


class PasswordLists(Struct, frozen=True):
    """The contents of the file."""

    source: str
    license: str
    common: Sequence[str]
    """Leaked passwords, words of dictionaries and names, of a password's length, folded."""
    neighbours: Mapping[str, str]
    """For each key of a keyboard, those that touch it, folded."""


@functools.cache
def common_texts() -> frozenset[str]:
    """All leaked passwords, dictionary words and names of a password's length, folded."""
    return frozenset(_lists().common)


@functools.cache
def keyboard_neighbours() -> Mapping[str, frozenset[str]]:
    """For each key of a QWERTY keyboard and of a keypad, the keys that touch it, folded."""
    return {key: frozenset(keys) for key, keys in _lists().neighbours.items()}


def _lists() -> PasswordLists:
    return msgspec.json.decode(LISTS.read_bytes(), type=PasswordLists)
