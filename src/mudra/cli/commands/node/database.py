"""mudra database: roles, schema and rights of the database."""

import typer

from mudra.cli.local.program import CommandFailed, program
from mudra.cli.local.settings import AsJson, DataDir
from mudra.cli.output.output import Exit, fail, show_json

app = typer.Typer(no_args_is_help=True, help="Roles, schema and rights of the database.")


@app.callback()
def database() -> None:
    """Roles, schema and rights of the database."""


@app.command(
    "prepare",
    epilog="Example: MUDRA_DATABASE_ADMIN_URL=postgresql://… mudra database prepare",
)
def prepare(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Make the roles owner, service and reader, bring the schema up to date, give each its rights.

    Owner and service are the users, with their passwords, of MUDRA_DATABASE_OWNER_URL and
    MUDRA_DATABASE_URL; they are made when MUDRA_DATABASE_ADMIN_URL names a superuser. The reader
    is mudra_reader. The embedded database prepares itself at each start.
    Exits with 1 when the service's role may still do more than it needs.
    """
    try:
        left = program().prepare_database(data_dir)
    except CommandFailed as failed:
        fail(str(failed), failed.code)
    if as_json:
        show_json({"prepared": not left, "excess": list(left)})
        if left:
            raise typer.Exit(int(Exit.FAILED))
        return
    if left:
        fail(
            f"the service's database role may still {', '.join(left)}: set "
            "MUDRA_DATABASE_OWNER_URL and MUDRA_DATABASE_ADMIN_URL and run this again",
            Exit.FAILED,
        )
    typer.echo("The database is prepared: the service's role owns nothing and is no superuser.")
