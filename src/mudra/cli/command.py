"""A command that calls the API: its arguments, the calls, and what to show of the answer.

The options that all such commands share, and how their caller is known, are added here.
"""

import asyncio
import functools
from collections.abc import Awaitable, Callable
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

import httpx2
import typer

from mudra.cli.client.api import TIMEOUT_S, Api
from mudra.cli.client.sign_in import BaseUrl, base_address, signed_in
from mudra.cli.local.operator_name import account_name
from mudra.cli.local.program import CommandFailed, program
from mudra.cli.local.settings import AsJson, DataDir
from mudra.cli.output.output import fail
from mudra.cli.output.shown import Shown
from mudra.shared.secret_text import SecretText

T = TypeVar("T")
_Calls: TypeAlias = Callable[..., Awaitable[Shown]]
_Act: TypeAlias = Callable[[Api], Awaitable[Shown]]
_Where: TypeAlias = Callable[[_Act, Any], Shown]


def owner_command(
    app: typer.Typer, example: str, name: str | None = None
) -> Callable[[_Calls], _Calls]:
    """Add a command of the owner of this machine, by the API in its own process.

    The command takes the API first; its other parameters are those of Typer.
    """
    return _declared(app, example, name, _option("data_dir", DataDir), as_owner)


def user_command(
    app: typer.Typer, example: str, name: str | None = None
) -> Callable[[_Calls], _Calls]:
    """Add a command of the signed-in user, by the API of a service."""
    return _declared(app, example, name, _option("base_url", BaseUrl), _as_user)


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


def _as_user(act: _Act, base_url: str | None) -> Shown:
    entry = signed_in(base_url)
    return at_service(entry.base_url, act, entry.secret_token)


def _as_anyone(act: _Act, base_url: str | None) -> Shown:
    return at_service(base_address(base_url), act)


def at_service(
    issuer: str, act: Callable[[Api], Awaitable[T]], token: SecretText | None = None
) -> T:
    """Call a service over HTTP, as the user of a token; raises CommandFailed."""

    async def over_http() -> T:
        async with httpx2.AsyncClient(timeout=TIMEOUT_S) as client:
            return await act(Api(client, issuer, token))

    return asyncio.run(over_http())


def _option(name: str, annotation: object) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


_AS_JSON: Final = Parameter("as_json", Parameter.KEYWORD_ONLY, default=False, annotation=AsJson)


def _declared(
    app: typer.Typer, example: str, name: str | None, place: Parameter, where: _Where
) -> Callable[[_Calls], _Calls]:
    def declare(command: _Calls) -> _Calls:
        own = [
            one.replace(kind=Parameter.KEYWORD_ONLY)
            for one in signature(command).parameters.values()
            if one.name != "api"
        ]

        @functools.wraps(command)
        def run(**values: Any) -> None:
            chosen, as_json = values.pop(place.name), values.pop("as_json")
            try:
                shown = where(lambda api: command(api=api, **values), chosen)
            except CommandFailed as failed:
                fail(str(failed), failed.code)
            shown.write(as_json=as_json)

        taken = [*own, place, _AS_JSON]
        run.__signature__ = Signature(taken)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in taken}
        app.command(name, epilog=f"Example: {example}")(run)
        return command

    return declare
