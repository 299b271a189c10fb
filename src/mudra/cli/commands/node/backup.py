"""mudra backup: keep the database elsewhere, encrypted."""

import os
from pathlib import Path
from typing import Annotated

import typer

from mudra.cli.local.program import program
from mudra.cli.local.settings import AsJson, DataDir
from mudra.cli.output.output import Exit, fail, show_facts, show_json
from mudra.cli.output.steps import steps_shown
from mudra.overview.backups import BackupOrder
from mudra.shared.backup_details import BackupDetails
from mudra.shared.time_text import iso_ms

app = typer.Typer(no_args_is_help=True)

BackupFile = Annotated[
    Path, typer.Argument(help="The backup: a file that ends in .dump.age.", dir_okay=False)
]
IdentityFile = Annotated[
    Path,
    typer.Option("--identity", help="File with the private key, as of mudra backup key."),
]


@app.command(
    epilog="Example: mudra backup create --to /mnt/backups --recipient age1… --keep-days 14 · "
    "MUDRA_BACKUP_DIR=/mnt/backups MUDRA_BACKUP_RECIPIENTS=age1… mudra backup create"
)
def create(
    to: Annotated[
        Path | None, typer.Option(help="Folder of the backups; else MUDRA_BACKUP_DIR.")
    ] = None,
    recipient: Annotated[
        list[str] | None,
        typer.Option(help="Public key of age that can decrypt it; else MUDRA_BACKUP_RECIPIENTS."),
    ] = None,
    nice: Annotated[
        int,
        typer.Option(
            min=0,
            max=19,
            help="Lower the priority of the backup, and not that of the database.",
        ),
    ] = 0,
    keep_days: Annotated[
        int,
        typer.Option(
            min=0,
            max=36500,
            help="Once this backup is whole, delete those in its folder that are older; 0: none.",
        ),
    ] = 0,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Back up the database while the service runs: one snapshot, encrypted, with a checksum.

    The master key is not part of it: keep a copy of it in another place. What is written is
    NAME.dump.age and its description NAME.json; a file has its name once it is whole.
    """
    order = BackupOrder(to, tuple(recipient or ()), nice, keep_days)
    with steps_shown(quiet=as_json) as on_progress:
        made = program().make_backup(order, data_dir, on_progress)
    if as_json:
        deleted = [str(one) for one in made.deleted]
        show_json({"file": str(made.file), **_document(made.details), "deleted": deleted})
        return
    older = {"older files deleted": len(made.deleted)} if keep_days else {}
    show_facts({"backup": made.file, **_facts(made.details), **older})


@app.command(
    epilog="Example: mudra backup verify /mnt/backups/mudra-20261122T023000Z.dump.age "
    "--identity backup.key"
)
def verify(file: BackupFile, identity: IdentityFile, as_json: AsJson = False) -> None:
    """Read a backup to its end: checksum, key and every encrypted byte; restore nothing."""
    with steps_shown(quiet=as_json) as on_progress:
        details = program().check_backup(file, identity, on_progress)
    if as_json:
        show_json({"intact": True, **_document(details)})
        return
    show_facts({"intact": file, **_facts(details)})


@app.command(epilog="Example: mudra backup key backup.key")
def key(
    file: Annotated[Path, typer.Argument(help="New file for the private key.", dir_okay=False)],
    as_json: AsJson = False,
) -> None:
    """Make a pair of keys: the private one into a file, the public one on the screen.

    Set the public one in MUDRA_BACKUP_RECIPIENTS. Keep the file away from the service's machines.
    """
    private, public = program().new_backup_key()
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        fail(f"{file} cannot be made: {error.strerror}", Exit.USAGE)
    with os.fdopen(descriptor, "w") as opened:
        opened.writelines((f"# public key: {public}\n", private.reveal(), "\n"))
    if as_json:
        show_json({"file": str(file), "publicKey": public})
    else:
        typer.echo(public)


def _document(details: BackupDetails) -> dict[str, object]:
    return {
        "backupId": details.backup_id,
        "madeAt": iso_ms(details.made_at),
        "mudra": details.mudra,
        "schema": details.schema,
        "databaseBytes": details.database_bytes,
        "dumpBytes": details.dump_bytes,
        "fileBytes": details.file_bytes,
        "sha256": details.sha256,
        "seconds": details.seconds,
    }


def _facts(details: BackupDetails) -> dict[str, object]:
    return {
        "made at": iso_ms(details.made_at),
        "by": f"mudra {details.mudra}, schema {details.schema}",
        "database": f"{details.database_bytes / 1e6:.1f} MB",
        "file": f"{details.file_bytes / 1e6:.1f} MB in {details.seconds:.1f} s",
        "SHA-256": details.sha256,
    }
