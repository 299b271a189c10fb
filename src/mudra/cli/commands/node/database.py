"""mudra database: roles, schema and rights of the database."""

from typing import Annotated

import typer

from mudra.audit.event import Caller
from mudra.cli.local.checkpoints_option import CollectedLog
from mudra.cli.local.instant_option import read_instant
from mudra.cli.local.operator_name import operator_name
from mudra.cli.local.program import program
from mudra.cli.local.settings import AsJson, DataDir
from mudra.cli.output.acts import act_document, show_acts
from mudra.cli.output.output import Exit, fail, show_facts, show_json

app = typer.Typer(no_args_is_help=True)


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
    left = program().prepare_database(data_dir)
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


@app.command(
    "recovered",
    epilog="Example: mudra database recovered --to 2026-11-23T08:00:00Z",
)
def recovered(
    to: Annotated[
        str,
        typer.Option(help="The moment of the recovery, ISO 8601 with offset; for emails."),
    ],
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """End what must not come back, after PostgreSQL was recovered to a point in time.

    No node may run. A recovery is a rollback: everyone signs in again, open one-time links end,
    members get an email, and resets and other acts since that moment which the second place of
    the audit knows are listed; entity tokens among them are revoked again, and signing keys
    dropped again. Start the nodes then, and confirm it by mudra audit confirm-restore.
    """
    at = read_instant("--to", to)
    report = program().after_recovery(at, Caller(operator_name()), data_dir)
    if as_json:
        show_json(
            {
                "already": report.already,
                "tokensEnded": report.tokens_ended,
                "revokedAgain": report.revoked_again,
                "keysDroppedAgain": report.keys_dropped_again,
                "membersNotified": report.members_notified,
                "lost": [act_document(act) for act in report.lost],
            }
        )
        return
    if report.already:
        typer.echo("Nothing to do: this was done before.")
        return
    show_facts(
        {
            "user tokens ended": report.tokens_ended,
            "entity tokens revoked again": report.revoked_again,
            "signing keys dropped again": report.keys_dropped_again,
            "members notified": report.members_notified,
            "acts lost, as far as known": len(report.lost),
        }
    )
    show_acts(report.lost)
    typer.echo("Next: start the service, then run mudra audit confirm-restore.")


@app.command("moved", epilog="Example: mudra database moved --nothing-since")
def moved(
    nothing_since: Annotated[
        bool,
        typer.Option(
            "--nothing-since",
            help="No node ran in the old place and nothing was written there since.",
        ),
    ] = False,
    checkpoints: CollectedLog = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """State that the database was moved whole to another server, so that nodes start on it.

    For pg_upgrade, logical replication and a dump that was made while no node ran, where a backup
    was ever made. No node may run. Nothing ends and no one gets an email; your name is kept in the
    audit. Refused for what is a copy of a backup, and where the second place of the audit has
    events that the database lacks, or, of a dump, not its last checkpoints: run mudra database
    recovered there. Changes nothing where the database was not moved, or this was done before.
    """
    if not nothing_since:
        fail(
            "add --nothing-since if no node ran in the old place and nothing was written there "
            "since the database was moved; else run mudra database recovered --to TIME",
            Exit.USAGE,
        )
    recorded = program().after_move(Caller(operator_name()), data_dir, checkpoints)
    if as_json:
        show_json({"already": not recorded})
    elif recorded:
        typer.echo("It is recorded. Next: start the service, then run mudra audit verify.")
    else:
        typer.echo("Nothing to do: no move waits to be stated.")
