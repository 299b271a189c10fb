"""mudra sandbox fault: let the clients of one entity meet a fault, for a time."""

from collections.abc import Awaitable
from http import HTTPStatus
from typing import Annotated, Final

import typer

from mudra.cli.client.api import Answer, Api
from mudra.cli.command import user_command
from mudra.cli.local.program import CommandFailed
from mudra.cli.output.shown import Shown, table
from mudra.demo.faults.fault import AMOUNTS, DESCRIPTIONS, FaultKind

app = typer.Typer(no_args_is_help=True, help="Faults that the clients of one entity meet.")

EntityId = Annotated[str, typer.Argument(help="The entity's ID.")]
_FAULTS: Final = "/sandbox/v1/faults"
_KINDS: Final = " · ".join(f"{kind}: {effect}" for kind, effect in DESCRIPTIONS.items())
_DEFAULTS: Final = ", ".join(f"{kind} PT{one.default}S" for kind, one in AMOUNTS.items())


@app.callback()
def fault() -> None:
    """Group the commands of faults."""


@user_command(app, "mudra sandbox fault list KAVERI-FIP --json", "list")
async def list_faults(
    api: Api,
    entity_id: Annotated[
        str, typer.Argument(help="An entity's ID; without it, all that you may see.")
    ] = "",
) -> Shown:
    """List the faults in force."""
    query = {"entityId": entity_id} if entity_id else {}
    return await _shown(api, api.send("GET", _FAULTS, query=query))


@user_command(app, "mudra sandbox fault on KAVERI-FIP slow --by PT5S --lasts PT10M")
async def on(
    api: Api,
    entity_id: EntityId,
    kind: Annotated[FaultKind, typer.Argument(help=_KINDS)],
    by: Annotated[
        str,
        typer.Option(
            help="How much, an ISO 8601 duration; a clock goes back by --by=-PT10M. "
            f"Defaults: {_DEFAULTS}."
        ),
    ] = "",
    lasts: Annotated[str, typer.Option(help="When it ends by itself, PT1S to P7D.")] = "PT1H",
) -> Shown:
    """Switch a fault on; the same kind again replaces the one in force."""
    body = {"entityId": entity_id, "kind": kind.value, "by": by, "lasts": lasts}
    return await _shown(api, api.send("POST", _FAULTS, body))


@user_command(app, "mudra sandbox fault off KAVERI-FIP slow")
async def off(
    api: Api,
    entity_id: EntityId,
    kind: Annotated[
        FaultKind | None, typer.Argument(help="The kind; without it, all of the entity.")
    ] = None,
) -> Shown:
    """End a fault, or all of an entity, before its time; lists what was ended."""
    body = {"entityId": entity_id, "kind": kind.value if kind else ""}
    return await _shown(api, api.send("POST", f"{_FAULTS}/end", body))


async def _shown(api: Api, sent: Awaitable[tuple[int, Answer]]) -> Shown:
    status, answer = await sent
    if status == HTTPStatus.NOT_FOUND:
        raise CommandFailed(f"{api.issuer} is no sandbox: faults exist in a sandbox only")
    names = ("entityId", "kind", "seconds", "endsAt")
    faults = api.done(status, answer)["faults"]
    return table(
        ("entity", "fault", "seconds", "ends"),
        [[str(one[name] or "") for name in names] for one in faults],
        answer,
    )
