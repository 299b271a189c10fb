"""The mudra command: what there is, in one table.

A command's module is imported when it is called (or listed by `mudra --help`):
importing them all would cost more than a warm start of the service.
"""

from collections.abc import Callable, Iterator, MutableMapping
from importlib import import_module
from typing import Annotated, Any, Final, NamedTuple, TypeAlias, cast

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup


class _Call(NamedTuple):
    """A command of one word: a function of a module of `commands/`, and its examples."""

    module: str
    example: str


_CALLS: Final = {
    "serve": _Call(
        "node.serve",
        "mudra serve --sandbox --demo · MUDRA_DATABASE_URL=postgresql://… mudra serve --workers 4",
    ),
    "login": _Call("account.login", "mudra login lakshmi@kaveribank.example"),
    "doctor": _Call("node.doctor", "mudra doctor --json"),
    "restore": _Call(
        "node.restore",
        "mudra restore mudra-20261122T023000Z.dump.age --identity backup.key --data-dir /srv/mudra",
    ),
    "board": _Call("network.board", "mudra board --json"),
}
_NOUNS: Final = {
    "member": "network.member",
    "migrate": "network.migrate",
    "mail": "node.mail",
    "admin": "network.admin",
    "operator": "network.operator",
    "password": "account.password",
    "entity": "entity.entity",
    "secret": "entity.secret",
    "token": "entity.token",
    "session": "account.session",
    "alarms": "account.alarms",
    "keys": "node.keys",
    "database": "node.database",
    "backup": "node.backup",
    "agent": "entity.agent",
    "sandbox": "node.sandbox",
    "audit": "network.audit",
    "registry": "registry.entries",
    "health": "network.health",
    "announcement": "network.announcement",
    "conformance": "conformance.conformance",
    "jwk": "registry.jwk",
    "config": "node.config",
}
"""The module of `commands/` whose `app` has the commands of a noun."""


_Command: TypeAlias = TyperCommand | TyperGroup


class _Lazy(MutableMapping[str, _Command]):
    """The commands by name; each is imported when it is taken out."""

    def __init__(self) -> None:
        self._taken: dict[str, _Command] = {}

    def __getitem__(self, name: str) -> _Command:
        if name not in self:
            raise KeyError(name)
        if name not in self._taken:
            self._taken[name] = _call(name) if name in _CALLS else _noun(name)
        return self._taken[name]

    def __contains__(self, name: object) -> bool:
        return name in _CALLS or name in _NOUNS

    def __iter__(self) -> Iterator[str]:
        return iter((*_CALLS, *_NOUNS))

    def __len__(self) -> int:
        return len(_CALLS) + len(_NOUNS)

    def __setitem__(self, name: str, command: _Command) -> None:
        self._taken[name] = command

    def __delitem__(self, name: str) -> None:
        del self._taken[name]


class _Commands(TyperGroup):
    """The group of all commands (Click, "Lazily Loading Subcommands")."""

    def __init__(self, **attributes: Any) -> None:  # Typer's own, passed on
        super().__init__(**attributes)
        self.commands = cast("Any", _Lazy())  # Typer does not export the type that it declares

    def list_commands(self, ctx: object) -> list[str]:  # noqa: ARG002  # as the base has it
        """Name them in the order of the table, importing none."""
        return list(self.commands)


def _noun(name: str) -> TyperGroup:
    group = typer.main.get_group(import_module(f"mudra.cli.commands.{_NOUNS[name]}").app)
    group.name = name
    return group


def _call(name: str) -> TyperCommand:
    module, example = _CALLS[name]
    function: Callable[..., None] = getattr(import_module(f"mudra.cli.commands.{module}"), name)
    alone = typer.Typer(
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    alone.command(name, epilog=f"Example: {example}")(function)
    command = typer.main.get_command(alone)
    assert isinstance(command, TyperCommand)
    return command


app = typer.Typer(
    name="mudra",
    cls=_Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Identity, registry and health service of an account-aggregator network.",
    epilog="Exit codes: 0 done · 1 refused or found wrong · 2 wrong usage · 3 sign in first · "
    "4 wait and try again · 5 service or database did not answer",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        from mudra.shared.build_version import version  # noqa: PLC0415  # asked for once in a while

        typer.echo(f"mudra {version()}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Take the options that stand before the command."""
