"""mudra registry: the entries of the registry, their history, and decisions on them."""

import sys
from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from mudra.cli.commands.registry import addresses, binding, payload_files, probe, vocabulary
from mudra.cli.local.duration_option import read_duration
from mudra.cli.local.instant_option import read_instant
from mudra.cli.local.program import Dependencies
from mudra.cli.local.registry_store import operator
from mudra.cli.local.settings import AsJson, DataDir
from mudra.cli.local.store import with_store
from mudra.cli.output.output import Exit, fail, show_facts, show_json, show_table
from mudra.http.response.registry_record import record_response
from mudra.registry.lifecycle.decision import Decision, RegistryAction
from mudra.registry.lifecycle.history import history as steps_of
from mudra.registry.lifecycle.record import Record, VersionStatus
from mudra.registry.lifecycle.register import Command, Outcome, decide
from mudra.registry.ports import Registry
from mudra.shared.time_text import iso_ms

app = typer.Typer(no_args_is_help=True)
payload_files.add_to(app)
addresses.add_to(app)
binding.add_to(app)
probe.add_to(app)
app.add_typer(vocabulary.app, name="vocabulary")

EntityId = Annotated[str, typer.Argument(help="ID of the entity, such as KAVERI-FIP.")]
Reason = Annotated[str, typer.Option(help="Why; the member and the history show it.")]
Version = Annotated[
    int, typer.Option(help="The version that you reviewed; refused if another is pending.")
]


@app.command(epilog="Example: mudra registry show KAVERI-FIP --json")
def show(entity_id: EntityId, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Show an entity's live entry, else the latest version."""
    record = _stored(lambda registry: registry.record(entity_id), entity_id, data_dir)
    version = record.live or record.versions[-1]
    entry = msgspec.to_builtins(version.entry)
    if as_json:
        show_json({"standing": record.status.value, "version": version.number, "entry": entry})
        return
    show_facts(
        {
            "entity": f"{record.entity_id} ({record.entity_type})",
            "standing": record.status.value,
            "version": f"{version.number}, {version.status}",
            "pending": record.pending.number if record.pending else "none",
        }
    )
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(version.entry)).decode() + "\n")


@app.command(epilog="Example: mudra registry history KAVERI-FIP")
def history(entity_id: EntityId, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Show the newest 200 versions with who, when and what each changed.

    It says how many older versions there are. With `--json` it has the dates of the keys, too.
    """
    record = _stored(lambda registry: registry.history(entity_id), entity_id, data_dir)
    if as_json:
        show_json(msgspec.to_builtins(record_response(record)))
        return
    rows = []
    for step in steps_of(record):
        one = step.version
        changed = ", ".join(change.path for change in step.changes)
        rows.append(
            [
                str(one.number),
                one.status.value,
                f"{one.submitted_by} {iso_ms(one.submitted_at)}",
                one.decided_by,
                changed,
            ]
        )
    show_table(["VERSION", "STATUS", "SUBMITTED", "DECIDED BY", "CHANGES"], rows)
    if record.left_out:
        show_facts({"older versions, not shown": record.left_out})


@app.command(epilog="Example: mudra registry approve KAVERI-FIP --from 2026-03-01T00:00:00Z")
def approve(
    entity_id: EntityId,
    version: Version = 0,
    from_: Annotated[str, typer.Option("--from", help="Go live at this time, ISO 8601.")] = "",
    in_: Annotated[str, typer.Option("--in", help="Go live after a duration: PT2H, P7D.")] = "",
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Approve the pending version: live at once, or from a time."""
    if from_ and in_:
        fail("give --from or --in, not both", Exit.USAGE)

    async def act(dependencies: Dependencies) -> Outcome:
        goes_live_at = read_instant("--from", from_) if from_ else None
        if in_:
            goes_live_at = dependencies.clock() + read_duration("--in", in_)
        return await _decided(
            dependencies,
            _command(RegistryAction.APPROVE, entity_id, version=version, goes_live_at=goes_live_at),
        )

    _show(with_store(act, data_dir), as_json=as_json)


@app.command(epilog="Example: mudra registry reject KAVERI-FIP --reason 'certificate is not yours'")
def reject(
    entity_id: EntityId,
    reason: Reason,
    version: Version = 0,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Reject the pending version."""
    command = _command(RegistryAction.REJECT, entity_id, reason, version)
    _carry_out(command, data_dir, as_json=as_json)


@app.command(epilog="Example: mudra registry suspend KAVERI-FIP --reason 'key has leaked'")
def suspend(
    entity_id: EntityId, reason: Reason, data_dir: DataDir = None, as_json: AsJson = False
) -> None:
    """Remove an entity from the directory and stop its tokens, on every node at once."""
    command = _command(RegistryAction.SUSPEND, entity_id, reason)
    _carry_out(command, data_dir, as_json=as_json)


@app.command(epilog="Example: mudra registry restore KAVERI-FIP")
def restore(
    entity_id: EntityId, reason: Reason = "", data_dir: DataDir = None, as_json: AsJson = False
) -> None:
    """Bring a suspended entity back."""
    command = _command(RegistryAction.RESTORE, entity_id, reason)
    _carry_out(command, data_dir, as_json=as_json)


@app.command(epilog="Example: mudra registry retire KAVERI-FIP --reason 'left the network'")
def retire(
    entity_id: EntityId, reason: Reason, data_dir: DataDir = None, as_json: AsJson = False
) -> None:
    """End a membership permanently; its ID and keys cannot be used again."""
    command = _command(RegistryAction.RETIRE, entity_id, reason)
    _carry_out(command, data_dir, as_json=as_json)


@app.command(epilog="Example: mudra registry rollback KAVERI-FIP --to 3 --reason 'wrong address'")
def rollback(
    entity_id: EntityId,
    to: Annotated[int, typer.Option(min=1, help="The earlier version to go back to.")],
    reason: Reason,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Go live at once with a new version equal to an earlier one."""
    command = _command(RegistryAction.ROLL_BACK, entity_id, reason, to)
    _carry_out(command, data_dir, as_json=as_json)


@app.command(epilog="Example: mudra registry export --output directory.json")
def export(
    output: Annotated[Path | None, typer.Option(help="File; default: standard output.")] = None,
    data_dir: DataDir = None,
) -> None:
    """Write all live entries as an array of payloads, as `import` reads them."""

    async def act(dependencies: Dependencies) -> bytes:
        async with dependencies.unit_of_work() as work:
            return b"[" + b",\n".join(await work.registry.live_entries()) + b"]\n"

    written = with_store(act, data_dir)
    if output is None:
        sys.stdout.write(written.decode())
        return
    try:
        output.write_bytes(written)
    except OSError as error:
        fail(f"{output} cannot be written: {error.strerror}", Exit.USAGE)


def _command(
    action: RegistryAction,
    entity_id: str,
    reason: str = "",
    version: int = 0,
    goes_live_at: datetime | None = None,
) -> Command:
    return Command(action, entity_id, operator(), reason, version, goes_live_at)


def _carry_out(command: Command, data_dir: Path | None, *, as_json: bool) -> None:
    async def act(dependencies: Dependencies) -> Outcome:
        return await _decided(dependencies, command)

    _show(with_store(act, data_dir), as_json=as_json)


async def _decided(dependencies: Dependencies, command: Command) -> Outcome:
    async with dependencies.unit_of_work() as work:
        return await decide(work.registry, command)


def _show(outcome: Outcome, *, as_json: bool) -> None:
    if not isinstance(outcome, Decision):
        fail(outcome.sentence)
    facts: dict[str, object] = {
        "entityId": outcome.after.entity_id,
        "act": outcome.action.value,
        "status": outcome.status,
        "standing": outcome.after.status.value,
        "version": outcome.version,
        "goesLiveAt": _goes_live_at(outcome),
    }
    if as_json:
        show_json(facts)
    else:
        # People need no fields that the action is not about (a version, a time).
        show_facts({name: fact for name, fact in facts.items() if fact})


def _goes_live_at(decision: Decision) -> str | None:
    version = decision.after.version(decision.version)
    due = version.goes_live_at if version is not None else None
    return None if due is None or decision.status != VersionStatus.APPROVED else iso_ms(due)


def _stored(
    read: Callable[[Registry], Awaitable[Record | None]], entity_id: str, data_dir: Path | None
) -> Record:
    async def act(dependencies: Dependencies) -> Record | None:
        async with dependencies.unit_of_work() as work:
            return await read(work.registry)

    record = with_store(act, data_dir)
    if record is None:
        fail(f"the registry has no entity {entity_id}")
    return record
