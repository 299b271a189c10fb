"""mudra maintenance: a member announces, changes and withdraws its own planned maintenance."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

import typer

from mudra.cli.client.api import Answer, Api
from mudra.cli.command import user_command
from mudra.cli.commands.entity.days import EntityId, Prefix
from mudra.cli.local.duration_option import read_duration
from mudra.cli.local.instant_option import read_instant
from mudra.cli.output.output import Exit, fail
from mudra.cli.output.shown import Shown, table
from mudra.cli.output.silences import shown_silence, times_after
from mudra.shared.time_text import iso_ms

app = typer.Typer(no_args_is_help=True)
_PREFIX = "/metrics/perf/v1"
_ID = "7d8e0c5e-0f2c-4f7c-9b49-0d6f6a1c2b3d"

_Which = Annotated[UUID, typer.Argument(help="ID, as mudra maintenance list shows it.")]


@user_command(app, "mudra maintenance list KAVERI-FIP --json", "list")
async def list_maintenances(api: Api, entity_id: EntityId, prefix: Prefix = _PREFIX) -> Shown:
    """List the active and scheduled maintenances of your entity, earliest end first."""
    found = (await (await api.of_entity(entity_id)).get(_path(prefix)))["silences"]
    return table(
        ["ID", "BEGINS", "ENDS", "IN TIME", "BY", "REASON"],
        [
            [
                *(one["silenceId"], one["begins"], one["ends"]),
                *("yes" if one["notice"]["inTime"] else "no", one["madeBy"], one["reason"]),
            ]
            for one in found
        ],
        found,
    )


@user_command(
    app, 'mudra maintenance announce KAVERI-FIP --in PT30H --for PT2H --reason "new disks"'
)
async def announce(
    api: Api,
    entity_id: EntityId,
    reason: Annotated[str, typer.Option(help="What is done.")],
    for_: Annotated[str, typer.Option("--for", help="How long: PT4H; at most P1D.")] = "PT4H",
    in_: Annotated[str, typer.Option("--in", help="Start after this duration; else now.")] = "",
    begins: Annotated[
        str, typer.Option("--begins", help="Start at this instant, ISO 8601, in place of --in.")
    ] = "",
    prefix: Prefix = _PREFIX,
) -> Shown:
    """Announce a maintenance: your entity is not rated meanwhile, and the public status says so."""
    if begins and in_:
        fail("name one of --in and --begins", Exit.USAGE)
    member, path = await api.of_entity(entity_id), _path(prefix)
    if begins:
        at = read_instant("--begins", begins)
        times = _times(at, for_)
    else:
        now = datetime.fromisoformat((await member.get(path))["timestamp"])
        times = times_after(now, in_, for_)
    return shown_silence((await member.post(path, {"reason": reason, **times}))["silence"])


@user_command(app, f"mudra maintenance change KAVERI-FIP {_ID} --begins 2026-12-01T20:00:00Z")
async def change(
    api: Api,
    entity_id: EntityId,
    silence_id: _Which,
    begins: Annotated[str, typer.Option("--begins", help="Start at this instant.")] = "",
    for_: Annotated[str, typer.Option("--for", help="How long: PT4H; at most P1D.")] = "",
    reason: Annotated[str, typer.Option(help="What is done.")] = "",
    prefix: Prefix = _PREFIX,
) -> Shown:
    """Change what is named of a maintenance that has not begun."""
    member, path = await api.of_entity(entity_id), _path(prefix)
    body: dict[str, object] = {"reason": reason} if reason else {}
    if for_:
        at = (
            read_instant("--begins", begins)
            if begins
            else await _begin_of(member, path, silence_id)
        )
        body |= _times(at, for_)
    elif begins:
        body["begins"] = iso_ms(read_instant("--begins", begins))
    return shown_silence((await member.post(f"{path}/{silence_id}", body))["silence"])


@user_command(app, f"mudra maintenance withdraw KAVERI-FIP {_ID}")
async def withdraw(
    api: Api, entity_id: EntityId, silence_id: _Which, prefix: Prefix = _PREFIX
) -> Shown:
    """Withdraw a maintenance, or end it now where it has begun."""
    member = await api.of_entity(entity_id)
    ended = await member.post(f"{_path(prefix)}/{silence_id}/end")
    return shown_silence(ended["silence"])


def _path(prefix: str) -> str:
    return f"{prefix}/maintenance"


def _times(begins: datetime, for_: str) -> dict[str, object]:
    return {"begins": iso_ms(begins), "ends": iso_ms(begins + read_duration("--for", for_))}


async def _begin_of(member: Api, path: str, silence_id: UUID) -> datetime:
    known: list[Answer] = (await member.get(path))["silences"]
    begins = [one["begins"] for one in known if one["silenceId"] == str(silence_id)]
    if not begins:
        fail("no active or scheduled maintenance of this ID")
    return datetime.fromisoformat(begins[0])
