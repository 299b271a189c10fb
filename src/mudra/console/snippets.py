"""Programs that get an Entity Access Token, with a member's own values filled in.

The secret comes from the variable `ENTITY_SECRET`, so that it is in no file and
in no history of a shell. Tests run them.
"""

from collections.abc import Sequence
from importlib.resources import files
from string import Template
from typing import Final

from msgspec import Struct

_LANGUAGES: Final = (
    ("curl", "curl", "token.sh", "sh token.sh"),
    ("python", "Python", "token.py", "python3 token.py"),
    ("java", "Java", "Token.java", "java Token.java"),
    ("node", "Node.js", "token.mjs", "node token.mjs"),
)


class Snippet(Struct, frozen=True):
    """One program: its file name, how it is run, its text."""

    key: str
    title: str
    file: str
    run: str
    text: str


def snippets(issuer: str, entity_id: str) -> Sequence[Snippet]:
    """Fill in the values of a member."""
    folder = files("mudra.console").joinpath("snippets_text")
    values = {"url": f"{issuer}/v1/entity/token/generate", "id": entity_id}
    return [
        Snippet(key, title, file, run, _filled(folder.joinpath(f"{file}.txt").read_text(), values))
        for key, title, file, run in _LANGUAGES
    ]


class _At(Template):
    """`@{name}`, since `$` means something in a shell and in Java Script."""

    delimiter = "@"


def _filled(text: str, values: dict[str, str]) -> str:
    return _At(text).substitute(values)
