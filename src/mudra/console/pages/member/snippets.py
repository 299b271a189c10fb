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
    # token.py would be taken for the module of that name, which Python itself imports.
    ("curl", "curl", "get_token.sh", "sh get_token.sh"),
    ("python", "Python", "get_token.py", "python3 get_token.py"),
    ("java", "Java", "GetToken.java", "java GetToken.java"),
    ("node", "Node.js", "get_token.mjs", "node get_token.mjs"),
)
KEPT: Final = "token.jwt"
"""Where the page keeps the token, to verify it from there."""


class Snippet(Struct, frozen=True):
    """One program: its file name, how it is run, its text. It writes the token and no more."""

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
        Snippet(
            key,
            title,
            file,
            f"{run} > {KEPT}",
            _filled(folder.joinpath(f"{file}.txt").read_text(), values),
        )
        for key, title, file, run in _LANGUAGES
    ]


class _At(Template):
    """`@{name}`, since `$` means something in a shell and in Java Script."""

    delimiter = "@"


def _filled(text: str, values: dict[str, str]) -> str:
    return _At(text).substitute(values)
