"""mudra setup: everything that a machine needs before the service is started."""

import tomllib
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from mudra.cli.local.given_file import read_file
from mudra.cli.local.program import CommandFailed, program
from mudra.cli.local.set_up import EMBEDDED, Answers, Places, SetUpDone
from mudra.cli.local.settings import AsJson
from mudra.cli.output.output import Exit, fail, show_json
from mudra.shared.text.byte_order_mark import NotUtf8, text_without_mark

_OTHERS = 0o077
_START = "systemctl daemon-reload && systemctl enable --now"
_UNITS = "mudra.socket mudra.service mudra-audit-verify.timer mudra-backup.timer"


def setup(
    answers: Annotated[
        Path | None,
        typer.Option(help="TOML file with the answers, mode 0600; else they are asked for."),
    ] = None,
    to: Annotated[Path, typer.Option(help="Write below this directory; / is this machine.")] = Path(
        "/"
    ),
    as_json: AsJson = False,
) -> None:
    """Set a machine up: settings, master key, backup key, units, database and first operator.

    Asks for the public address, the mail server and the database. A second run changes only what
    differs, and never a key. Signs in at the mail server and sends nothing: exits with 1 where that
    fails, with all else done. Answers in a file: base_url, operator, smtp_url, mail_from, database
    (embedded, or the address of a superuser), and optional database_name, proxies, workers,
    backup_recipients, network_name, contact, security_contact.
    """
    given = _read(answers) if answers is not None else _asked()
    done = program().set_up(given, Places(to.absolute()))
    if as_json:
        show_json(
            {
                "written": [str(one) for one in done.written],
                "keepElsewhere": [str(one) for one in done.keep],
                "operatorLink": done.link,
                "mailFault": done.mail_fault,
            }
        )
    else:
        _show(given, done)
    if done.mail_fault:
        fail(f"{done.mail_fault}. All else is done: correct it, and run mudra setup again")


def _read(file: Path) -> Answers:
    try:
        if file.stat().st_mode & _OTHERS:
            raise CommandFailed(
                f"{file} holds passwords and others may read it: chmod 600 {file}", Exit.USAGE
            )
        found = tomllib.loads(text_without_mark(read_file(file)))
    except (OSError, NotUtf8, tomllib.TOMLDecodeError) as error:
        raise CommandFailed(f"{file} cannot be read: {error}", Exit.USAGE) from error
    return _answers(found, f"{file}: ")


def _answers(found: dict[str, Any], place: str) -> Answers:
    try:
        return msgspec.convert(found, Answers)
    except msgspec.ValidationError as error:
        names = ", ".join(Answers.__struct_fields__)
        raise CommandFailed(f"{place}{error}; answers are {names}", Exit.USAGE) from error


def _asked() -> Answers:
    ask = typer.prompt
    found: dict[str, Any] = {
        "base_url": ask("Public https address of the token service (https://…/iam)"),
        "operator": ask("Email address of the first operator"),
        "smtp_url": ask("Mail server (smtp://user:password@host:587; empty: none)", default=""),
    }
    if found["smtp_url"]:
        found["mail_from"] = ask("Sender of emails")
    found["database"] = ask(
        "Database: embedded, or the address of a superuser (postgresql://…)", default=EMBEDDED
    )
    return _answers(found, "")


def _show(answers: Answers, done: SetUpDone) -> None:
    for file in done.written:
        typer.echo(f"written  {file}")
    if not done.written:
        typer.echo("Nothing to write: all is as it was asked for.")
    if done.keep:
        typer.echo("\nKeep these elsewhere, not next to each other, and delete them here:")
        for file in done.keep:
            typer.echo(f"  {file}  {_WHY.get(file.name, '')}")
    typer.echo(f"\nStart:\n  {_START} {_UNITS}")
    if done.link:
        typer.echo(
            f"\nThen, once the proxy answers at {answers.base_url}, {answers.operator} opens this "
            f"link, within 24 hours:\n  {done.link}"
        )
    else:
        typer.echo(
            f"\n{answers.operator} is an operator already. For a new link:\n"
            f"  mudra admin invite {answers.operator}"
        )


_WHY = {
    "master.key": "without it no secret in the database can be read, nor in a backup",
    "backup.key": "decrypts backups; no machine of the service needs it",
}
