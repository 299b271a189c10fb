"""mudra audit: what happened, and the proof that it was not changed since."""

from datetime import timedelta
from pathlib import Path
from typing import Annotated, Final

import typer

from mudra.audit.chain import Broken, CheckpointForged
from mudra.audit.event import Caller, Outcome
from mudra.cli.client.api import Api
from mudra.cli.command import owner_command, store_command
from mudra.cli.local.checkpoints_option import CollectedLog, collected
from mudra.cli.local.instant_option import read_day_or_instant
from mudra.cli.local.operator_name import operator_name
from mudra.cli.local.program import CommandFailed, Dependencies
from mudra.cli.output.acts import act_document, show_acts
from mudra.cli.output.shown import Shown, facts, line, table

app = typer.Typer(no_args_is_help=True)


_MAX_S: Final = 1800.0
"""Seconds for a verification: half an hour, for a table of any likely length."""
_FIELDS: Final = (
    *("at", "event", "outcome", "actor", "entityId"),
    *("address", "txnId", "reason", "detail"),
)


@owner_command(app, "mudra audit list --entity KAVERI-FIP --last 20", "list")
async def list_events(  # noqa: PLR0913, PLR0917  # one option for each field of the search
    api: Api,
    entity: Annotated[str, typer.Option(help="Only events of this entity.")] = "",
    event: Annotated[str, typer.Option(help="Only events of this name; may end in *.")] = "",
    actor: Annotated[
        str, typer.Option(help="Only events of this actor: an email address, or a name as listed.")
    ] = "",
    outcome: Annotated[Outcome | None, typer.Option(help="Only events with this outcome.")] = None,
    txn: Annotated[str, typer.Option(help="Only events of this transaction ID.")] = "",
    jti: Annotated[str, typer.Option(help="Only events of the token with this ID.")] = "",
    since: Annotated[
        str,
        typer.Option(help="From this day or time on, ISO 8601; of UTC where it has no offset."),
    ] = "",
    until: Annotated[
        str,
        typer.Option(help="Before this day or time, ISO 8601; of UTC where it has no offset."),
    ] = "",
    last: Annotated[int, typer.Option(min=1, max=10_000, help="How many, the latest.")] = 50,
) -> Shown:
    """List events, oldest first."""
    query = {
        "event": event,
        "outcome": outcome.value if outcome else "",
        "actor": actor,
        "entityId": entity,
        "txnIdIs": txn,
        "jti": jti,
        "since": read_day_or_instant("--since", since).isoformat() if since else "",
        "until": read_day_or_instant("--until", until).isoformat() if until else "",
    }
    found = await api.pages("/operator/v1/audit", "events", query, last)
    events = [{name: one[name] for name in _FIELDS} for one in reversed(found)]
    names = ("at", "event", "outcome", "actor", "entityId", "address", "reason")
    return table(
        ["AT", "EVENT", "OUTCOME", "ACTOR", "ENTITY", "ADDRESS", "REASON"],
        [[one[name] for name in names] for one in events],
        events,
    )


@store_command(app, "mudra audit verify && echo untouched", "verify")
async def verify_chain(dependencies: Dependencies, checkpoints: CollectedLog = None) -> Shown:
    """Verify every event: its seal, its place, and the checkpoints of database and second place.

    Exits with 1 when a row was changed, removed, added, moved or misdated (it names the first),
    when sealing has stopped, and when a restore took events back that no one has confirmed.
    """
    from mudra.audit.audit_chain import AuditChain  # noqa: PLC0415  # loads the database
    from mudra.audit.audit_log_store import AuditLog  # noqa: PLC0415  # loads the database
    from mudra.audit.proof.verification import verify_audit  # noqa: PLC0415  # loads the database

    also = collected(dependencies, checkpoints)
    async with dependencies.transaction(within_s=_MAX_S) as tx:
        verdict = await verify_audit(
            tx.service(AuditChain), AuditLog(tx), Caller(operator_name()), also
        )
    if not verdict.intact:
        raise CommandFailed(verdict.problem)
    counts = {
        "rows": verdict.rows,
        "vouched": verdict.vouched,
        "waiting": verdict.waiting,
        "tokenBlocks": verdict.token_blocks,
        "droppedBlocks": verdict.dropped_blocks,
        "archived": verdict.archived,
    }
    return facts(
        {
            "sealed rows": verdict.rows,
            "of which in archives alone": verdict.archived,
            "vouched for by checkpoints": verdict.vouched,
            "waiting for their seal": verdict.waiting,
            "blocks of token issues": verdict.token_blocks,
            "dropped for their age": verdict.dropped_blocks,
            **dict.fromkeys(verdict.notes, "confirmed"),
        },
        {**counts, "intact": True, "notes": list(verdict.notes)},
    )


@store_command(app, "mudra audit export --from 4711", "export")
async def export(
    dependencies: Dependencies,
    begin: Annotated[
        int | None,
        typer.Option(
            "--from", min=0, help="Send events again from this seq on; 0: all that there are."
        ),
    ] = None,
) -> Shown:
    """Show up to where the audit was sent to MUDRA_AUDIT_EXPORT, or send a part of it again.

    The nodes send: at most 20 seconds later, and each event at least once.
    """
    from mudra.audit.export.position_store import ExportPositions  # noqa: PLC0415  # loads the database

    async with dependencies.transaction() as tx:
        positions = ExportPositions(tx)
        position = await positions.read()
        if begin is not None:
            number = await positions.before_seq(begin)
            position = await positions.move_to(number)
        waiting = await positions.waiting(position)
    to = dependencies.settings.audit_export
    shown = str(to) if to is not None else ""
    return facts(
        {
            "destination": shown or "none: set MUDRA_AUDIT_EXPORT",
            "sent up to event of the chain": position.number,
            "sealed and not sent": waiting,
        },
        {"destination": shown, "number": position.number, "waiting": waiting},
    )


@store_command(app, "mudra audit confirm-restore", "confirm-restore")
async def confirm(dependencies: Dependencies) -> Shown:
    """Record that the database was restored on purpose, so that its lost events are no fault.

    Your name is kept in the audit; the number of lost events stays in each verification.
    """
    from mudra.audit.audit_chain import AuditChain  # noqa: PLC0415  # loads the database
    from mudra.audit.audit_log_store import AuditLog  # noqa: PLC0415  # loads the database
    from mudra.audit.proof.sealing import confirm_restore  # noqa: PLC0415  # loads the database

    async with dependencies.transaction(within_s=_MAX_S) as tx:
        now = await tx.service(AuditChain).ledger.now()
        caller = Caller(operator_name())
        opened = await confirm_restore(tx.service(AuditChain), AuditLog(tx), caller, now)
    if opened is None:
        raise CommandFailed(
            "nothing to confirm: the second place has no checkpoint that the database lacks"
        )
    return facts(
        {"epoch": opened.number, "begins after row": opened.after},
        {"epoch": opened.number, "after": opened.after},
    )


@store_command(app, "mudra audit archive --to /mnt/worm/audit", "archive")
async def archive(
    dependencies: Dependencies,
    to: Annotated[Path, typer.Option(help="The folder of the archives, outside the database.")],
    older: Annotated[
        int, typer.Option("--days", min=0, max=36500, help="Only what is so many days old.")
    ] = 30,
) -> Shown:
    """Write the audit since the last archive to a signed file, and verify what was written.

    What is archived is dropped from the database after MUDRA_AUDIT_ARCHIVED_DAYS, where that is
    set; a verification then begins where the archive ends. Keep the files: they are the audit.
    """
    from mudra.audit.audit_chain import AuditChain  # noqa: PLC0415  # loads the database
    from mudra.audit.audit_log_store import AuditLog  # noqa: PLC0415  # loads the database
    from mudra.audit.proof.archive import archive_next  # noqa: PLC0415  # loads the database

    files, caller = dependencies.archive_files(to), Caller(operator_name())
    try:
        async with dependencies.transaction(within_s=_MAX_S) as tx:
            before = await tx.service(AuditChain).ledger.now() - timedelta(days=older)
            written = await archive_next(
                tx.service(AuditChain), AuditLog(tx), caller, files, before
            )
    except (CheckpointForged, OSError) as error:
        raise CommandFailed(str(error)) from error
    if written is None:
        nothing = "Nothing to archive: no checkpoint of that age is after the last archive."
        return line(nothing, {"file": None, "rows": 0})
    if isinstance(written, Broken):
        raise CommandFailed(written.sentence())
    made, rows = written.archive, written.rows
    return facts(
        {"written": made.name, "rows": rows, "up to row": made.until.count},
        {"file": made.name, "rows": rows, "until": made.until.count, "sha256": made.sha256},
    )


@store_command(app, "mudra audit check-archives --in /mnt/worm/audit", "check-archives")
async def check(
    dependencies: Dependencies,
    folder: Annotated[Path, typer.Option("--in", help="The folder of the archives.")],
) -> Shown:
    """Verify every archive that the database knows: that it is there, its signature, its rows."""
    from mudra.audit.audit_chain import AuditChain  # noqa: PLC0415  # loads the database
    from mudra.audit.proof.archive import check_archives  # noqa: PLC0415  # loads the database

    files = dependencies.archive_files(folder)
    try:
        async with dependencies.transaction(within_s=_MAX_S) as tx:
            found = await check_archives(tx.service(AuditChain), files)
    except (CheckpointForged, OSError) as error:
        raise CommandFailed(str(error)) from error
    if isinstance(found, Broken):
        raise CommandFailed(found.sentence())
    return facts({"rows in archives": found}, {"intact": True, "rows": found})


@store_command(app, "mudra audit lost --json", "lost")
async def list_lost(dependencies: Dependencies) -> Shown:
    """List acts that restores took back, by the second place: resets, removed passkeys and so on.

    What came after the last checkpoint before the loss is not among them.
    """
    from mudra.audit.audit_chain import AuditChain  # noqa: PLC0415  # loads the database
    from mudra.audit.proof.lost_acts import lost_acts  # noqa: PLC0415  # loads the database

    try:
        async with dependencies.transaction(within_s=_MAX_S) as tx:
            lost = await lost_acts(tx.service(AuditChain))
    except CheckpointForged as error:
        raise CommandFailed(str(error)) from error
    documents = [act_document(one) for one in lost]
    if not lost:
        return line("Nothing is lost, as far as the second place knows.", documents)
    return Shown(documents, lambda: show_acts(lost))
