"""A call of which samples are written, and the variables in its texts.

What differs from reader to reader is an environment variable, so that a sample runs as it is
copied: `$ROOT` in a shell, `os.environ["ROOT"]` in Python.
"""

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

_VARIABLE: Final = re.compile(r"\$([A-Z_]+)")


class Call(Struct, frozen=True):
    """One call. Texts may name variables, such as `$ENTITY_ID`."""

    name: str
    method: str
    path: str
    bearer: str = ""
    """The variable of the token in `Authorization`."""
    basic: tuple[str, str] | None = None
    """User and password of HTTP Basic."""
    form: Mapping[str, str] | None = None
    fields: Mapping[str, str | int] | None = None
    """The members of a JSON body."""
    file: str = ""
    """A file whose content is the JSON body."""


def variables(call: Call) -> list[str]:
    """Returns the variables of a call, in their order."""
    texts = ["$ROOT", call.path, f"${call.bearer}" if call.bearer else "", *(call.basic or ())]
    texts += [*(call.form or {}).values(), *map(str, (call.fields or {}).values())]
    return list(dict.fromkeys(name for text in texts for name in _VARIABLE.findall(text)))


def pieces(text: str) -> list[tuple[str, str]]:
    """Returns constant parts and variables of a text, in their order."""
    found = []
    for place, part in enumerate(_VARIABLE.split(text)):
        if part:
            found.append(("variable" if place % 2 else "text", part))
    return found
