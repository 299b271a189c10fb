"""A command that calls the API: its arguments, the calls, and what to show of the answer.

The options that all such commands share, and how their caller is known, are added here.
"""

import asyncio
import functools
import sys
from collections.abc import Awaitable, Callable, Mapping
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias, TypeVar

import httpx2
import typer

from mudra.cli.client.api import TIMEOUT_S, Api
from mudra.cli.client.sign_in import BaseUrl, base_address, signed_in
from mudra.cli.local.operator_name import account_name
from mudra.cli.local.program import Dependencies, program
from mudra.cli.local.settings import AsJson, DataDir
from mudra.cli.output.output import fail
from mudra.cli.output.shown import Shown
from mudra.shared.secret_text import SecretText

T = TypeVar("T")
_Calls: TypeAlias = Callable[..., Awaitable[Shown]]
_Act: TypeAlias = Callable[[Api], Awaitable[Shown]]
_Asks: TypeAlias = Callable[[Mapping[str, Any]], str]
_Where: TypeAlias = Callable[[Any, Any], Shown]


def owner_command(
    app: typer.Typer, example: str, name: str | None = None, *, asks: _Asks | None = None
) -> Callable[[_Calls], _Calls]:
    """Adds a command of the owner of this machine, by the API in its own process.

    The command takes the API first; its other parameters are those of Typer. What cannot be
    undone `asks` on a terminal: by what was typed, it returns the question, or none.
    """
    return _declared(app, example, name, _option("data_dir", DataDir), as_owner, asks)


def user_command(
    app: typer.Typer, example: str, name: str | None = None, *, asks: _Asks | None = None
) -> Callable[[_Calls], _Calls]:
    """Adds a command of the signed-in user, by the API of a service.

    `asks` is as in `owner_command`.
    """
    return _declared(app, example, name, _option("base_url", BaseUrl), _as_user, asks)


def store_command(
    app: typer.Typer, example: str, name: str | None = None
) -> Callable[[_Calls], _Calls]:
    """Add a command of the owner of this machine that no call of the API does.

    It takes the `dependencies` of the open store first.
    """
    place = _option("data_dir", DataDir)
    return _declared(app, example, name, place, _in_store, given="dependencies")


def open_command(
    app: typer.Typer, example: str, name: str | None = None
) -> Callable[[_Calls], _Calls]:
    """Add a command that needs no sign-in, by the API of a service."""
    return _declared(app, example, name, _option("base_url", BaseUrl), _as_anyone)


def as_owner(act: _Act, data_dir: Path | None) -> Shown:
    """Call the API of a data directory or database, in this process."""

    async def within(client: httpx2.AsyncClient) -> Shown:
        return await act(Api(client))

    return program().in_api(within, data_dir, account_name())


def _in_store(act: Callable[[Dependencies], Awaitable[Shown]], data_dir: Path | None) -> Shown:
    """Open data directory and database for one action."""
    return program().in_store(act, data_dir)


def _as_user(act: _Act, base_url: str | None) -> Shown:
    entry = signed_in(base_url)
    return at_service(entry.base_url, act, entry.secret_token, entry.email)


def _as_anyone(act: _Act, base_url: str | None) -> Shown:
    return at_service(base_address(base_url), act)


def at_service(
    issuer: str,
    act: Callable[[Api], Awaitable[T]],
    token: SecretText | None = None,
    user: str = "",
) -> T:
    """Call a service over HTTP, as the user of a token; raises CommandFailed."""

    async def over_http() -> T:
        async with httpx2.AsyncClient(timeout=TIMEOUT_S) as client:
            return await act(Api(client, issuer, token, user))

    return asyncio.run(over_http())


def _option(name: str, annotation: object) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


_AS_JSON: Final = Parameter("as_json", Parameter.KEYWORD_ONLY, default=False, annotation=AsJson)


_YES: Final = Parameter(
    "yes",
    Parameter.KEYWORD_ONLY,
    default=False,
    annotation=Annotated[bool, typer.Option("--yes", help="Do not ask, on a terminal either.")],
)


def _declared(  # a command, and what is added to it
    app: typer.Typer,
    example: str,
    name: str | None,
    place: Parameter,
    where: _Where,
    asks: _Asks | None = None,
    given: str = "api",
) -> Callable[[_Calls], _Calls]:
    def declare(command: _Calls) -> _Calls:
        own = [
            one.replace(kind=Parameter.KEYWORD_ONLY)
            for one in signature(command).parameters.values()
            if one.name != given
        ]

        @functools.wraps(command)
        def run(**values: Any) -> None:
            chosen, as_json = values.pop(place.name), values.pop("as_json")
            if asks is not None and not values.pop("yes"):
                _ask(asks(values))
            shown = where(lambda what: command(**{given: what}, **values), chosen)
            shown.write(as_json=as_json)

        taken = [*own, *([_YES] if asks else []), place, _AS_JSON]
        run.__signature__ = Signature(taken)  # type: ignore[attr-defined]  # inspect reads it
        run.__annotations__ = {one.name: one.annotation for one in taken}
        app.command(name, epilog=f"Example: {example}")(run)
        return command

    return declare


def _ask(question: str) -> None:
    if question and sys.stdin.isatty() and not typer.confirm(question, err=True):
        fail("nothing was changed")
