"""mudra restore: bring a backup back, and end what must not come back with it."""

from pathlib import Path
from typing import Annotated, Final

import typer

from mudra.audit.event import Caller
from mudra.cli.commands.node.backup import IdentityFile
from mudra.cli.local.operator_name import operator_name
from mudra.cli.local.program import CommandFailed, program
from mudra.cli.local.settings import AsJson, DataDir
from mudra.cli.output.acts import act_document, show_acts
from mudra.cli.output.output import fail, show_facts, show_json
from mudra.cli.output.steps import steps_shown
from mudra.overview.backups import MetricsAfter, RestoreOrder, RestoreReport
from mudra.shared.time_text import iso_ms

_EMPTY: Final = (
    "mudra restore NAME.metrics.dump.age, or begin without them by mudra database pair-metrics "
    "--begin-empty"
)
_METRICS: Final = {
    MetricsAfter.INCLUDED: "in it",
    MetricsAfter.KEPT: "kept as they are in the second database",
    MetricsAfter.EMPTY: f"the second database is empty, and no node starts: {_EMPTY}",
    MetricsAfter.AWAY: "the second database did not answer: nodes start without it",
    MetricsAfter.FOREIGN: (
        "the database of MUDRA_METRICS_DATABASE_URL is not this service's, and no node starts: "
        f"name an empty one; then {_EMPTY}"
    ),
}


def restore(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="The backup: a file that ends in .dump.age; of two databases, one of each.",
            dir_okay=False,
        ),
    ],
    identity: IdentityFile,
    replace: Annotated[
        bool,
        typer.Option(help="Set the database of the data directory aside, under another name."),
    ] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Restore a backup into an empty data directory or database, whole or not at all.

    Metrics in a second database (NAME.metrics.dump.age) are restored with the first one or alone;
    alone, the rest stays as it is, and what follows here does not happen.

    The master key must be there already: the backup does not hold it. A restore is a rollback:
    everyone signs in again, open one-time links end, members get an email, and resets and
    other acts since the backup that the second place of the audit knows are listed; entity
    tokens among them are revoked again, and signing keys dropped again. Confirm it then by
    mudra audit confirm-restore.
    """
    order = RestoreOrder(files, identity, replace)
    try:
        with steps_shown(quiet=as_json) as on_progress:
            report = program().restore(order, Caller(operator_name()), data_dir, on_progress)
    except CommandFailed as failed:
        fail(str(failed), failed.code)
    if as_json:
        show_json(_document(report))
        return
    if report.already:
        typer.echo(f"Nothing to do: {' and '.join(map(str, files))} restored here before.")
        return
    if report.details.metrics_only:
        show_facts({"metrics restored to": iso_ms(report.details.made_at)})
        typer.echo("Next: start the service.")
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
            "metrics": _metrics(report),
        }
    )
    show_acts(report.lost)
    typer.echo("Next: start the service, then run mudra audit confirm-restore.")


def _metrics(report: RestoreReport) -> str:
    if report.metrics_to is not None:
        return f"restored to {iso_ms(report.metrics_to)}"
    return _METRICS[report.metrics or MetricsAfter.INCLUDED]


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
        "metricsIncluded": report.details.metrics_included,
        "metrics": report.metrics.value if report.metrics else None,
        "metricsTo": iso_ms(report.metrics_to) if report.metrics_to else None,
        "lost": [act_document(act) for act in report.lost],
    }
