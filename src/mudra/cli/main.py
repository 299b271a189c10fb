"""The mudra command: the groups and commands of the table, each loaded when it is called.

Importing them all would cost more than a warm start of the service, and needs every extra.
"""

import errno
import os
import sys
from collections.abc import Callable, Iterator, MutableMapping
from importlib import import_module
from typing import Annotated, Any, TypeAlias, cast

import typer
import typer.main
from rich.markup import escape
from typer.core import TyperCommand, TyperGroup

from mudra.cli.output.streams import end_streams
from mudra.cli.table import NOT_INSTALLED, ROWS, Extra, Row

_Command: TypeAlias = TyperCommand | TyperGroup


class _Lazy(MutableMapping[str, _Command]):
    """The commands by name; each is imported when it is taken out."""

    def __init__(self) -> None:
        self._taken: dict[str, _Command] = {}

    def __getitem__(self, name: str) -> _Command:
        if name not in self:
            raise KeyError(name)
        if name not in self._taken:
            row = ROWS[name]
            self._taken[name] = _call(name, row) if row.example else _noun(name, row)
        return self._taken[name]

    def __contains__(self, name: object) -> bool:
        return name in ROWS

    def __iter__(self) -> Iterator[str]:
        return iter(ROWS)

    def __len__(self) -> int:
        return len(ROWS)

    def __setitem__(self, name: str, command: _Command) -> None:
        self._taken[name] = command

    def __delitem__(self, name: str) -> None:
        del self._taken[name]


class _Commands(TyperGroup):
    """The group of all commands (Click, "Lazily Loading Subcommands")."""

    def __init__(self, **attributes: Any) -> None:  # Typer's own, passed on
        super().__init__(**attributes)
        self.commands = cast("Any", _Lazy())  # Typer does not export the type that it declares

    def main(self, *args: Any, **options: Any) -> Any:
        """Run the program; what this machine refuses, a help text included, is a sentence."""
        try:
            return super().main(*args, **options)
        except OSError as error:  # Typer itself ends at a reader that ended
            problem = end_streams() or _machine_says(error)
        except UnicodeError:
            problem = "what was typed is not in UTF-8: set a UTF-8 locale, such as LC_ALL=C.UTF-8"
        sys.stderr.write(f"mudra: {problem}\n")
        sys.exit(1)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was typed; one that cannot go on ends with its sentence."""
        # Loaded with every command, and not for a list of them.
        from mudra.cli.local.program import CommandFailed  # noqa: PLC0415  # needed by a failure alone
        from mudra.cli.output.output import fail  # noqa: PLC0415  # as above

        try:
            return super().invoke(ctx)
        except CommandFailed as failed:
            fail(str(failed), failed.code)

    def list_commands(self, ctx: object) -> list[str]:  # noqa: ARG002  # as the base has it
        """Name them in the order of the table."""
        return list(ROWS)

    def get_command(self, ctx: object, cmd_name: str) -> Any:  # noqa: ARG002  # as the base has it
        """Return what lists show of a command, without importing it."""
        row = ROWS.get(cmd_name)
        if row is None:
            return None
        return TyperCommand(cmd_name, help=row.help, rich_help_panel=_panel(row.extra))

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return the command itself, which is called now."""
        name, _, rest = super().resolve_command(ctx, args)
        return name, self.commands[str(name)], rest


def _machine_says(error: OSError) -> str:
    """Return a sentence for what this machine refuses, with the way out where there is one."""
    reason = error.strerror or str(error)
    if error.filename is None:
        return f"this machine refuses it: {reason}"
    sentence = f"{os.fsdecode(error.filename)} cannot be used: {reason}"
    if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
        sentence += "; choose a folder that is yours, as an option of the command or in "
        sentence += "MUDRA_CONFIG_DIR (sign-ins) or MUDRA_DATA_DIR (the service)"
    return sentence


def _panel(extra: Extra) -> str | None:
    # Escaped, since Rich takes what is in brackets for a style.
    return None if extra.is_installed else f"Not installed: {escape(extra.requirement)}"


def _noun(name: str, row: Row) -> TyperGroup:
    group = typer.main.get_group(import_module(f"mudra.cli.commands.{row.module}").app)
    group.name, group.help = name, row.help
    _escape(group)
    return group


def _call(name: str, row: Row) -> TyperCommand:
    module = import_module(f"mudra.cli.commands.{row.module}")
    function: Callable[..., None] = getattr(module, name)
    alone = typer.Typer(
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    alone.command(name, epilog=f"Example: {row.example}")(function)
    command = typer.main.get_command(alone)
    assert isinstance(command, TyperCommand)
    _escape(command)
    return command


def _escape(command: Any) -> None:
    """Let help show what is in brackets, such as an extra, which Rich takes for a style."""
    if command.rich_markup_mode != "rich":
        return
    for one in (command, *command.params):
        for name in ("help", "epilog"):
            text = getattr(one, name, None)
            if text:
                setattr(one, name, escape(text))
    for inner in getattr(command, "commands", {}).values():
        _escape(inner)


app = typer.Typer(
    name="mudra",
    cls=_Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Identity, registry and health service of an account-aggregator network.",
    epilog="Exit codes: 0 done · 1 refused or found wrong · 2 wrong usage · 3 sign in first · "
    "4 wait and try again · 5 service or database did not answer · "
    f"{NOT_INSTALLED} an extra is not installed",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        from mudra.shared.build_version import version  # noqa: PLC0415  # asked for once in a while

        typer.echo(f"mudra {version()}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[  # noqa: ARG001  # its callback has used it
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
    profile: Annotated[
        str,
        typer.Option(help="Use the sign-ins of this profile; else MUDRA_PROFILE.", metavar="NAME"),
    ] = "",
) -> None:
    """Take the options that stand before the command."""
    if profile:
        os.environ["MUDRA_PROFILE"] = profile
