"""mudra timeline: what happened, over all areas, and what changed before an incident."""

from typing import Annotated
from uuid import UUID

import typer

from mudra.cli.client.api import Answer, Api
from mudra.cli.command import owner_command, user_command
from mudra.cli.local.instant_option import read_instant
from mudra.cli.output.shown import Shown, table, text

app = typer.Typer(no_args_is_help=True)
_ALL = "/operator/v1/timeline"
_OWN = "v1/entity/timeline"
_ID = "7d8e0c5e-0f2c-4f7c-9b49-0d6f6a1c2b3d"

_Start = Annotated[
    str, typer.Option("--from", help="Begin, ISO 8601 with offset; else seven days before the end.")
]
_End = Annotated[str, typer.Option("--to", help="End, ISO 8601 with offset; else now.")]
_Csv = Annotated[bool, typer.Option("--csv", help="As CSV.")]
_Incident = Annotated[UUID, typer.Argument(help="ID of the incident.")]
_Entity = Annotated[str, typer.Argument(help="ID of an entity that you administer or read.")]


@owner_command(app, "mudra timeline show --entity KAVERI-FIP --from 2026-01-01T00:00:00Z")
async def show(
    api: Api,
    entity: Annotated[str, typer.Option("--entity", help="Of this member and the network.")] = "",
    start: _Start = "",
    end: _End = "",
    as_csv: _Csv = False,
) -> Shown:
    """Show what happened to the network, its members and Mudra, the newest first."""
    return await _shown(api, _ALL, {"entityId": entity, **_times(start, end)}, as_csv=as_csv)


@user_command(app, "mudra timeline own KAVERI-FIP --csv")
async def own(
    api: Api, entity_id: _Entity, start: _Start = "", end: _End = "", as_csv: _Csv = False
) -> Shown:
    """Show what happened to your entity and to the whole network, the newest first."""
    return await _shown(api, _OWN, {"entityId": entity_id, **_times(start, end)}, as_csv=as_csv)


@owner_command(app, f"mudra timeline before {_ID}")
async def before(api: Api, incident_id: _Incident) -> Shown:
    """Show what changed before an incident, the likeliest first: hints, no proof."""
    return _candidates(await api.get(f"/operator/v1/incidents/{incident_id}/before"))


@user_command(app, f"mudra timeline before-own KAVERI-FIP {_ID}", "before-own")
async def before_own(api: Api, entity_id: _Entity, incident_id: _Incident) -> Shown:
    """Show what changed before an incident that concerns your entity, as far as you may see it."""
    path = f"v1/entity/incidents/{incident_id}/before"
    return _candidates(await api.get(path, {"entityId": entity_id}))


async def _shown(api: Api, path: str, query: dict[str, str], *, as_csv: bool) -> Shown:
    if as_csv:
        found = await api.text(path, {**query, "format": "csv"})
        return text(found, found)
    happenings = (await api.get(path, query))["happenings"]
    return table(
        ["AT", "KIND", "MEMBER", "WHAT"],
        [[one["at"], one["kind"], one["entityId"], one["text"]] for one in happenings],
        happenings,
    )


def _candidates(answer: Answer) -> Shown:
    found = answer["candidates"]
    rows = [
        [
            *(one["happening"]["at"], one["happening"]["kind"], one["happening"]["entityId"]),
            *(one["happening"]["text"], f"{one['score']:.3f}"),
        ]
        for one in found
    ]
    return table(["AT", "KIND", "MEMBER", "WHAT", "SCORE"], rows, found)


def _times(start: str, end: str) -> dict[str, str]:
    return {
        name: read_instant(f"--{name}", typed).isoformat()
        for name, typed in (("from", start), ("to", end))
        if typed
    }
