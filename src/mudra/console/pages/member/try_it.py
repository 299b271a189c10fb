"""Programs that get an Entity Access Token, with a member's own values filled in.

The secret comes from the variable `ENTITY_SECRET`, so that it is in no file and in
no shell history. Tests run the programs.
"""

from collections.abc import Sequence
from importlib.resources import files
from string import Template
from typing import Final

from litestar.params import FromPath
from litestar.types import ControllerRouterHandler
from msgspec import Struct

from mudra.console.framework import page
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import Outcome, RenderedPage
from mudra.http.auth.gates import ADMIN


@page.get("/entity/{entity_id:str}/try", gate=ADMIN)
async def try_it(page_context: PageContext, entity_id: FromPath[str]) -> Outcome:
    """Show the programs."""
    issuer = page_context.dependencies.settings.issuer
    return RenderedPage(
        "try_it.html",
        {
            "snippets": snippets(issuer, entity_id),
            "issuer": issuer,
            "token_file": TOKEN_FILE,
        },
    )


_LANGUAGES: Final = (
    # Not token.py: Python itself imports a module of that name.
    ("curl", "curl", "get_token.sh", "sh get_token.sh"),
    ("python", "Python", "get_token.py", "python3 get_token.py"),
    ("java", "Java", "GetToken.java", "java GetToken.java"),
    ("node", "Node.js", "get_token.mjs", "node get_token.mjs"),
)
TOKEN_FILE: Final = "token.jwt"  # noqa: S105  # a file name
"""Where the commands of the page save the token, to verify it from there."""


class Snippet(Struct, frozen=True):
    """One program: its file name, how to run it, its text. It writes the token and nothing else."""

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
            f"{run} > {TOKEN_FILE}",
            _filled(folder.joinpath(f"{file}.txt").read_text(), values),
        )
        for key, title, file, run in _LANGUAGES
    ]


class _AtTemplate(Template):
    """`@{name}`, since `$` has a meaning in shells and in JavaScript."""

    delimiter = "@"


def _filled(text: str, values: dict[str, str]) -> str:
    return _AtTemplate(text).substitute(values)


handlers: Final[list[ControllerRouterHandler]] = [try_it]
