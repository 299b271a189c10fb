"""Writes the common passwords and the keyboards that the rules for passwords know.

    python -m tools.password_lists

They are those of the zxcvbn package, which only development has. Of its lists the service can
compare nothing shorter than a password may be, which leaves few hundred of many ten thousand
texts; of its keyboards the two that members type on.
"""

from importlib.metadata import distribution
from typing import Final

import msgspec
from zxcvbn.adjacency_graphs import ADJACENCY_GRAPHS
from zxcvbn.frequency_lists import FREQUENCY_LISTS

from mudra.identity.accounts.password_rules import LISTS, MIN_LENGTH, PasswordLists

_KEYBOARDS: Final = ("qwerty", "keypad")


def password_lists() -> bytes:
    """Returns what the file must hold."""
    package = distribution("zxcvbn")
    common = {text.casefold() for words in FREQUENCY_LISTS.values() for text in words}
    touching: dict[str, set[str]] = {}
    for keyboard in _KEYBOARDS:
        for key, neighbours in ADJACENCY_GRAPHS[keyboard].items():
            # A neighbour is written as its key without and with shift: "2@", "qQ".
            keys = "".join(filter(None, neighbours)).casefold()
            touching.setdefault(key.casefold(), set()).update(keys)
    lists = PasswordLists(
        source=f"the zxcvbn package {package.version}, written by tools/password_lists.py",
        license=package.read_text("LICENSE.txt") or "",
        common=sorted(text for text in common if len(text) >= MIN_LENGTH),
        neighbours={key: "".join(sorted(touching[key])) for key in sorted(touching)},
    )
    return msgspec.json.format(msgspec.json.encode(lists), indent=1) + b"\n"


if __name__ == "__main__":
    LISTS.write_bytes(password_lists())
