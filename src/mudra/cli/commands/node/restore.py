"""mudra restore: bring a backup back, and end what must not come back with it."""

from typing import Annotated

import typer

from mudra.audit.event import Caller
from mudra.cli.commands.node.backup import BackupFile, IdentityFile
from mudra.cli.local.operator_name import operator_name
from mudra.cli.local.program import program
from mudra.cli.local.settings import AsJson, DataDir
from mudra.cli.output.acts import act_document, show_acts
from mudra.cli.output.output import show_facts, show_json
from mudra.cli.output.steps import steps_shown
from mudra.overview.backups import RestoreOrder, RestoreReport
from mudra.shared.time_text import iso_ms


def restore(
    file: BackupFile,
    identity: IdentityFile,
    replace: Annotated[
        bool,
        typer.Option(help="Set the database of the data directory aside, under another name."),
    ] = False,
    rehearsal: Annotated[
        bool,
        typer.Option(
            "--rehearsal",
            help="For a look: no email, webhook or call to anyone, now and by its nodes.",
        ),
    ] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Restore a backup into an empty data directory or database, whole or not at all.

    The master key must be there already: the backup does not hold it. A restore is a rollback:
    everyone signs in again, open one-time links end, members get an email, and resets and
    other acts since the backup that the second place of the audit knows are listed; entity
    tokens among them are revoked again, and signing keys dropped again. Confirm it then by
    mudra audit confirm-restore.
    """
    order = RestoreOrder(file, identity, replace, rehearsal)
    with steps_shown(quiet=as_json) as on_progress:
        report = program().restore(order, Caller(operator_name()), data_dir, on_progress)
    if as_json:
        show_json(_document(report))
        return
    if report.already:
        typer.echo(f"Nothing to do: {file} was restored here before.")
        return
    show_facts(
        {
            "restored to": iso_ms(report.details.made_at),
            **({"set aside": report.set_aside} if report.set_aside else {}),
            "user tokens ended": report.tokens_ended,
            "entity tokens revoked again": report.revoked_again,
            "signing keys dropped again": report.keys_dropped_again,
            "members notified": report.members_notified,
            "acts lost, as far as known": len(report.lost),
        }
    )
    show_acts(report.lost)
    if rehearsal:
        typer.echo("A rehearsal: nodes on it send nothing to anyone. Next: mudra doctor.")
        return
    typer.echo("Next: start the service, then run mudra audit confirm-restore.")


def _document(report: RestoreReport) -> dict[str, object]:
    return {
        "restoredTo": iso_ms(report.details.made_at),
        "backupId": report.details.backup_id,
        "already": report.already,
        "setAside": str(report.set_aside) if report.set_aside else None,
        "tokensEnded": report.tokens_ended,
        "revokedAgain": report.revoked_again,
        "keysDroppedAgain": report.keys_dropped_again,
        "membersNotified": report.members_notified,
        "lost": [act_document(act) for act in report.lost],
    }
