"""mudra registry: the entries of the registry, their history, and decisions on them."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NoReturn

import msgspec
import typer

from mudra.cli.client.api import Answer, Api, in_path
from mudra.cli.command import owner_command
from mudra.cli.commands.registry import addresses, binding, payload_files, probe, vocabulary
from mudra.cli.local.duration_option import read_duration
from mudra.cli.local.instant_option import read_instant
from mudra.cli.local.program import Dependencies, program
from mudra.cli.local.settings import DataDir
from mudra.cli.output.output import Exit, fail, show_facts, show_table
from mudra.cli.output.shown import Shown, facts
from mudra.registry.ports import Registry
from mudra.shared.time_text import iso_ms

app = typer.Typer(no_args_is_help=True)
payload_files.add_to(app)
addresses.add_to(app)
binding.add_to(app)
probe.add_to(app)
app.add_typer(vocabulary.app, name="vocabulary")

_PENDING = ("submitted", "approved")
_SIDES = ("before", "after")
_KEY = "key (thumbprint of RFC 7638)"
_ENTRIES = "/operator/v1/registry/entries"
EntityId = Annotated[str, typer.Argument(help="ID of the entity, such as KAVERI-FIP.")]
Reason = Annotated[str, typer.Option(help="Why; the member and the history show it.")]
Version = Annotated[
    int, typer.Option(help="The version that you reviewed; refused if another is pending.")
]


@owner_command(app, "mudra registry show KAVERI-FIP --json")
async def show(api: Api, entity_id: EntityId) -> Shown:
    """Show an entity's live entry, else the latest version."""
    record = await api.get(f"{_ENTRIES}/{in_path(entity_id)}")
    versions, standing, entry = record["versions"], record["standing"], record["entry"]
    version = next((one for one in versions if one["status"] == "live"), versions[-1])
    pending = next((one["version"] for one in versions if one["status"] in _PENDING), "none")

    def show() -> None:
        show_facts(
            {
                "entity": f"{record['entityId']} ({record['type']})",
                "standing": standing,
                "version": f"{version['version']}, {version['status']}",
                "pending": pending,
            }
        )
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(entry)).decode() + "\n")

    return Shown({"standing": standing, "version": version["version"], "entry": entry}, show)


@owner_command(app, "mudra registry history KAVERI-FIP")
async def history(api: Api, entity_id: EntityId) -> Shown:
    """Show the newest 200 versions with who, when and what each changed.

    It says how many older versions there are. With `--json` it has the dates of the keys, too.
    """
    record = await api.get(f"{_ENTRIES}/{in_path(entity_id)}")

    def show() -> None:
        show_table(
            ["VERSION", "STATUS", "SUBMITTED", "DECIDED BY", "CHANGES"],
            [
                [
                    *(str(one["version"]), one["status"]),
                    f"{one['submittedBy']} {one['submittedAt']}",
                    *(one["decidedBy"], ", ".join(change["path"] for change in one["changes"])),
                ]
                for one in record["versions"]
            ],
        )
        older = max(one["version"] for one in record["versions"]) - len(record["versions"])
        if older:
            show_facts({"older versions, not shown": older})

    return Shown(record.content, show)


@owner_command(app, "mudra registry approve KAVERI-FIP --version 2 --from 2026-03-01T00:00:00Z")
async def approve(
    api: Api,
    entity_id: EntityId,
    version: Version = 0,
    hash_: Annotated[
        str, typer.Option("--hash", help="The hash of what was shown; refused if it differs.")
    ] = "",
    from_: Annotated[str, typer.Option("--from", help="Go live at this time, ISO 8601.")] = "",
    in_: Annotated[str, typer.Option("--in", help="Go live after a duration: PT2H, P7D.")] = "",
) -> Shown:
    """Approve the version that you reviewed: live at once, or from a time.

    Without `--version` nothing is approved: it shows what the pending version changes, and the
    command that approves exactly that, and ends with exit code 2.
    """
    if from_ and in_:
        fail("give --from or --in, not both", Exit.USAGE)
    goes_live_at = read_instant("--from", from_) if from_ else None
    if in_:
        later = read_duration("--in", in_)
        goes_live_at = await api.now() + later
    if not version:
        await _show_pending(api, entity_id)
    due = iso_ms(goes_live_at) if goes_live_at else ""
    reviewed = {"version": version, "hash": hash_}
    return await _decide(api, "approve", entity_id, **reviewed, goesLiveAt=due)


@owner_command(app, "mudra registry reject KAVERI-FIP --reason 'certificate is not yours'")
async def reject(api: Api, entity_id: EntityId, reason: Reason, version: Version = 0) -> Shown:
    """Reject the pending version."""
    return await _decide(api, "reject", entity_id, reason=reason, version=version)


@owner_command(app, "mudra registry suspend KAVERI-FIP --reason 'key has leaked'")
async def suspend(api: Api, entity_id: EntityId, reason: Reason) -> Shown:
    """Remove an entity from the directory and stop its tokens, on every node at once."""
    return await _decide(api, "suspend", entity_id, reason=reason)


@owner_command(app, "mudra registry restore KAVERI-FIP")
async def restore(api: Api, entity_id: EntityId, reason: Reason = "") -> Shown:
    """Bring a suspended entity back."""
    return await _decide(api, "restore", entity_id, reason=reason)


@owner_command(
    app,
    "mudra registry retire KAVERI-FIP --reason 'left the network'",
    asks=lambda typed: f"ID and keys of {typed['entity_id']} cannot be used again. Retire it?",
)
async def retire(api: Api, entity_id: EntityId, reason: Reason) -> Shown:
    """End a membership permanently; its ID and keys cannot be used again."""
    return await _decide(api, "retire", entity_id, reason=reason)


@owner_command(app, "mudra registry rollback KAVERI-FIP --to 3 --reason 'wrong address'")
async def rollback(
    api: Api,
    entity_id: EntityId,
    to: Annotated[int, typer.Option(min=1, help="The earlier version to go back to.")],
    reason: Reason,
) -> Shown:
    """Go live at once with a new version equal to an earlier one."""
    return await _decide(api, "rollBack", entity_id, reason=reason, version=to)


@app.command(epilog="Example: mudra registry export --output directory.json")
def export(
    output: Annotated[Path | None, typer.Option(help="File; default: standard output.")] = None,
    data_dir: DataDir = None,
) -> None:
    """Write all live entries as an array of payloads, as `import` reads them."""

    async def act(dependencies: Dependencies) -> bytes:
        async with dependencies.transaction() as tx:
            return b"[" + b",\n".join(await tx.service(Registry).live_entries()) + b"]\n"

    written = program().in_store(act, data_dir)
    if output is None:
        sys.stdout.write(written.decode())
        return
    try:
        output.write_bytes(written)
    except OSError as error:
        fail(f"{output} cannot be written: {error.strerror}", Exit.USAGE)


async def _show_pending(api: Api, entity_id: str) -> NoReturn:
    """Show what waits, and end with the command that approves it."""
    versions = (await api.get(f"{_ENTRIES}/{in_path(entity_id)}"))["versions"]
    pending = next((one for one in versions if one["status"] in _PENDING), None)
    if pending is None:
        fail(f"{entity_id} has no version that waits for approval", Exit.FAILED)
    show_table(["FIELD", "BEFORE", "AFTER"], _compared(pending, versions))
    number, content = pending["version"], pending["hash"]
    fail(
        f"nothing was approved: review version {number}, then run "
        f"`mudra registry approve {entity_id} --version {number} --hash {content}`",
        Exit.USAGE,
    )


def _compared(pending: Answer, versions: Sequence[Answer]) -> list[list[str]]:
    """Return a row for each change; of a key its thumbprint, which people can compare."""
    older = [one for one in versions if one["version"] < pending["version"]]
    replaced = next((one for one in reversed(older) if one["liveFrom"]), (older or [pending])[-1])
    return [
        [_KEY, replaced["thumbprint"], pending["thumbprint"]]
        if one["path"] == "$.entityinfo.certificate.n"
        else [one["path"], *(msgspec.json.encode(one[side]).decode() for side in _SIDES)]
        for one in pending["changes"]
    ]


async def _decide(api: Api, act: str, entity_id: str, **body: object) -> Shown:
    path = f"{_ENTRIES}/{in_path(entity_id)}"
    decided = await api.post(f"{path}/decide", {"act": act, **body})
    names = ("entityId", "act", "status", "standing", "version")
    due = None
    if decided["status"] == "approved":
        versions = (await api.get(path))["versions"]
        due = next(one["goesLiveAt"] for one in versions if one["version"] == decided["version"])
    shown = {**{name: decided[name] for name in names}, "goesLiveAt": due}
    # People need no fields that the action is not about (a version, a time).
    return facts({name: fact for name, fact in shown.items() if fact}, shown)
