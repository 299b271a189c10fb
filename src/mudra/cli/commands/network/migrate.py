"""mudra migrate: move a network in from Keycloak and a separate registry."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final
from urllib.parse import urlsplit

import typer

from mudra.audit.event import Caller
from mudra.cli.commands.registry.payload_files import import_file
from mudra.cli.local.given_file import read_file
from mudra.cli.local.instant_option import read_day
from mudra.cli.local.operator_name import operator_name
from mudra.cli.local.program import Dependencies, program
from mudra.cli.local.settings import AsJson, DataDir
from mudra.cli.output.output import Exit, fail, show_facts, show_json, show_table
from mudra.shared.entity_type import EntityType
from mudra.shared.text.csv_file import CsvRefused, csv_rows
from mudra.shared.unavailable import DatabaseUnavailable
from mudra.tokens.migration.keycloak_export import (
    AdminOf,
    Admins,
    Export,
    ExportUnreadable,
    read_export,
)

if TYPE_CHECKING:  # loads the database
    from mudra.tokens.migration.move_in import Line

app = typer.Typer(no_args_is_help=True)

File = Annotated[Path, typer.Argument(help="The exported file.")]
Apply = Annotated[bool, typer.Option("--apply", help="Do it; without it, only report.")]
_TRIES: Final = 4
_COLUMNS: Final = ("entityId", "adminEmail", "adminName", "type", "name")


@app.callback()
def migrate() -> None:
    """Group the commands of a move."""


@app.command(
    epilog="Example: mudra migrate keycloak realm-export.json --admins admins.csv "
    "--issuer https://login.network.example/realms/aa"
)
def keycloak(  # noqa: PLR0913, PLR0917  # each is an option
    file: File,
    issuer: Annotated[
        str, typer.Option(help="`iss` of the tokens of Keycloak: the address of the realm.")
    ],
    admins: Annotated[
        Path | None,
        typer.Option(help=f"CSV with the columns {', '.join(_COLUMNS)}; the last three optional."),
    ] = None,
    realm: Annotated[str, typer.Option(help="The realm, where the file has several.")] = "",
    until: Annotated[
        str,
        typer.Option(help="The day until which its keys are valid; 90 days ahead for new ones."),
    ] = "",
    apply: Apply = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Import a realm: clients become members with their secrets, keys are published.

    Without --apply it reports what it would do. The same command again changes nothing that is
    there: a member keeps the secret that it has here. Admins get their invitations by email.
    """
    from mudra.tokens.migration.move_in import (  # noqa: PLC0415  # loads the database
        Line,
        move_member,
        preview_member,
    )

    export, known = _export(file, realm), _admins(admins)
    end = read_day("--until", until) if until else None
    _check_issuer(issuer)

    async def act(dependencies: Dependencies) -> list[Line]:
        lines = [Line("skipped", name, "skipped", why) for name, why in export.skipped]
        lines += await _keys(dependencies, export, issuer, end, apply=apply)
        for client in export.clients:
            async with dependencies.transaction() as tx:
                lines.append(
                    await move_member(tx, client, known, Caller(operator_name()))
                    if apply
                    else await preview_member(tx, client, known)
                )
        lines += [Line("member", name, "refused", why) for name, why in export.unreadable]
        return lines

    _show(program().in_store(act, data_dir), as_json=as_json, applied=apply)


@app.command("registry-file", epilog="Example: mudra migrate registry-file directory.json --apply")
def registry_file(
    file: File,
    entity_type: Annotated[
        EntityType | None, typer.Option("--type", help="The type of entries that name none.")
    ] = None,
    apply: Apply = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Import a directory of entries as the network publishes it, live at once.

    Without --apply it reports what it would do. Older forms are accepted and noted.
    Where two operators are needed, another one runs the same command.
    """
    import_file(
        file,
        dry_run=not apply,
        older=True,
        entity_type=entity_type,
        data_dir=data_dir,
        as_json=as_json,
    )


@app.command("end-keys", epilog="Example: mudra migrate end-keys")
def end_imported_keys(
    issuer: Annotated[str, typer.Option(help="Of this issuer alone.")] = "",
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """End the imported keys before their date: the other issuer's tokens are refused from now."""
    from mudra.audit.audit_log_store import AuditLog  # noqa: PLC0415  # loads the database
    from mudra.identity.accounts.people_store import People  # noqa: PLC0415  # loads the database
    from mudra.tokens.migration.move_in import end_keys  # noqa: PLC0415  # loads the database
    from mudra.tokens.signing_keys.signing_key_store import (  # noqa: PLC0415  # loads the database
        SigningKeys,
    )

    async def act(dependencies: Dependencies) -> list[str]:
        async with dependencies.transaction() as tx:
            now, caller = await People(tx).now(), Caller(operator_name())
            keys = SigningKeys(tx)
            return list(await end_keys(keys, AuditLog(tx), issuer, now, caller))

    ended = program().in_store(act, data_dir)
    if as_json:
        show_json({"ended": ended})
    else:
        show_facts({"ended": ", ".join(ended) or "none"})


async def _keys(
    dependencies: Dependencies, export: Export, issuer: str, until: datetime | None, *, apply: bool
) -> "list[Line]":
    """Move the keys; the job that plans keys may hold their lock for a moment."""
    for _ in range(_TRIES - 1):
        try:
            return await _moved_keys(dependencies, export, issuer, until, apply=apply)
        except DatabaseUnavailable:
            continue
    return await _moved_keys(dependencies, export, issuer, until, apply=apply)


async def _moved_keys(
    dependencies: Dependencies, export: Export, issuer: str, until: datetime | None, *, apply: bool
) -> "list[Line]":
    from mudra.audit.audit_log_store import AuditLog  # noqa: PLC0415  # loads the database
    from mudra.identity.accounts.people_store import People  # noqa: PLC0415  # loads the database
    from mudra.tokens.migration.move_in import (  # noqa: PLC0415  # loads the database
        LONGEST,
        KeyMove,
    )
    from mudra.tokens.signing_keys.signing_key_store import (  # noqa: PLC0415  # loads the database
        SigningKeys,
    )

    async with dependencies.transaction() as tx:
        now = await People(tx).now()
        today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        end = until or today + timedelta(days=90)
        if not now < end <= now + LONGEST:
            fail("--until must be a day within the next year", Exit.USAGE)
        move = KeyMove(
            *(SigningKeys(tx), AuditLog(tx), issuer, end, now),
            Caller(operator_name()),
            asked=until is not None,
        )
        return [await move.move(key, apply=apply) for key in export.keys]


def _export(file: Path, realm: str) -> Export:
    try:
        return read_export(read_file(file), realm)
    except ExportUnreadable as wrong:
        fail(f"{file}: {_plain(str(wrong))}", Exit.USAGE)


def _check_issuer(issuer: str) -> None:
    parts = urlsplit(issuer)
    if parts.scheme not in {"http", "https"} or not parts.netloc or not issuer.isprintable():
        fail("--issuer must be the address that the tokens of Keycloak have as iss", Exit.USAGE)


def _admins(file: Path | None) -> Admins:
    if file is None:
        return {}
    try:
        lines = list(csv_rows(read_file(file)))
    except CsvRefused as wrong:
        fail(f"{file}, line {wrong.line}, {wrong}", Exit.USAGE)
    columns = [cell.strip() for cell in lines[0][1]] if lines else []
    if not set(_COLUMNS[:2]) <= {*columns}:
        fail(f"{file} must have the columns entityId and adminEmail", Exit.USAGE)
    found: dict[str, AdminOf] = {}
    for line, cells in lines[1:]:
        row = dict(zip(columns, map(str.strip, cells), strict=False))
        member, *facts = (row.get(name, "") for name in _COLUMNS)
        if member in found:
            fail(f"{file}, line {line}, names {_plain(member)} again", Exit.USAGE)
        found[member] = AdminOf(*facts)
    return found


def _plain(text: str) -> str:
    """Escape what a name in a file could do to a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _show(lines: "list[Line]", *, as_json: bool, applied: bool) -> None:
    from mudra.tokens.migration.move_in import Line  # noqa: PLC0415  # loads the database

    lines = [Line(one.what, _plain(one.name), one.result, _plain(one.detail)) for one in lines]
    if as_json:
        show_json(
            {
                "applied": applied,
                "lines": [
                    {
                        "what": one.what,
                        "name": one.name,
                        "result": one.result,
                        "detail": one.detail,
                    }
                    for one in lines
                ],
            }
        )
    else:
        show_table(
            ["WHAT", "NAME", "RESULT", "DETAIL"],
            [[one.what, one.name, one.result, one.detail] for one in lines],
        )
        show_facts(dict(Counter(f"{one.what} {one.result}" for one in lines)))
        if not applied:
            typer.echo("Nothing was changed. Run it with --apply to do it.")
    if any(one.result == "refused" for one in lines):
        raise typer.Exit(int(Exit.FAILED))
