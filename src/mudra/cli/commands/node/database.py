"""mudra database: roles, schema and rights of the database."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from mudra.audit.event import Caller
from mudra.cli.local.checkpoints_option import CollectedLog
from mudra.cli.local.operator_name import operator_name
from mudra.cli.local.program import CommandFailed, program
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


@app.command("distribute", epilog="Example: mudra database distribute --dry-run > metrics.sql")
def distribute(
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the statements and change nothing.")
    ] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Print the SQL that shares the metrics out to the machines of a Citus cluster, by AA.

    Mudra runs none of it: give it to psql, as the owner of the tables, while no node runs. Keys
    that an earlier release made in another order come first; new indexes of a large table take
    minutes. The other tables are not touched.
    """
    if not dry_run:
        fail("this command only prints: add --dry-run, and give what it prints to psql", Exit.USAGE)
    try:
        found = program().distribution(data_dir)
    except CommandFailed as failed:
        fail(str(failed), failed.code)
    if as_json:
        show_json({"formerKeys": list(found.former_keys), "statements": list(found.statements)})
        return
    for statement in ("BEGIN", *found.statements, "COMMIT"):
        typer.echo(f"{statement};")


@app.command(
    "move-metrics",
    epilog="Example: MUDRA_METRICS_DATABASE_URL=postgresql://… mudra database move-metrics",
)
def move_metrics(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Move the metrics of this installation to the database of MUDRA_METRICS_DATABASE_URL.

    No node may run. The rows are copied, counted, and then deleted in the first database; a move
    that was cut short begins again. Set the address for all nodes before they start again.
    """

    def show(table: str, rows: int) -> None:
        if not as_json:
            typer.echo(f"{table}: {rows} rows")

    try:
        moved = program().move_metrics(data_dir, show)
    except CommandFailed as failed:
        fail(str(failed), failed.code)
    if as_json:
        show_json({"rows": dict(moved)})
        return
    typer.echo("The metrics are in the second database: set its address for all nodes.")


@app.command(
    "pair-metrics",
    epilog="Example: MUDRA_METRICS_DATABASE_URL=postgresql://… mudra database pair-metrics",
)
def pair_metrics(
    begin_empty: Annotated[
        bool,
        typer.Option("--begin-empty", help="The metrics are lost: begin with an empty database."),
    ] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Let first database and metrics fit again, after one was recovered or the metrics were lost.

    No node may run. Needed after PostgreSQL's own recovery of the second database, or of the
    first one next to it; mudra restore does it by itself. A database that was replaced fits no
    more afterwards. Changes nothing when the second one is another service's.
    """
    try:
        empty = program().pair_metrics(data_dir, begin_empty=begin_empty)
    except CommandFailed as failed:
        fail(str(failed), failed.code)
    if as_json:
        show_json({"paired": True, "empty": empty})
        return
    typer.echo("The databases are a pair" + (", without metrics so far." if empty else "."))


@app.command(
    "recovered",
    epilog="Example: mudra database recovered --to 2026-11-23T08:00:00Z",
)
def recovered(
    to: Annotated[
        datetime,
        typer.Option(
            formats=["%Y-%m-%dT%H:%M:%SZ"], help="The moment of the recovery, in UTC; for emails."
        ),
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
    try:
        report = program().after_recovery(to.replace(tzinfo=UTC), Caller(operator_name()), data_dir)
    except CommandFailed as failed:
        fail(str(failed), failed.code)
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
    try:
        recorded = program().after_move(Caller(operator_name()), data_dir, checkpoints)
    except CommandFailed as failed:
        fail(str(failed), failed.code)
    if as_json:
        show_json({"already": not recorded})
    elif recorded:
        typer.echo("It is recorded. Next: start the service, then run mudra audit verify.")
    else:
        typer.echo("Nothing to do: no move waits to be stated.")
