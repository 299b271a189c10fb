"""mudra health: incidents, silences and webhooks of the network's health."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, TypeVar
from uuid import UUID

import msgspec
import typer

from mudra.audit.event import Caller
from mudra.cli.commands.network.health_picture import health_matrix, picture
from mudra.cli.commands.network.health_reports import admit, held, refuse
from mudra.cli.commands.network.health_webhooks import app as webhook_commands
from mudra.cli.commands.network.incident_acts import INCIDENT, incident, incident_act
from mudra.cli.local.duration_option import read_duration
from mudra.cli.local.operator_name import operator_name
from mudra.cli.local.program import Dependencies
from mudra.cli.local.settings import AsJson, DataDir
from mudra.cli.local.store import with_store
from mudra.cli.output.output import fail, show_facts, show_json, show_table
from mudra.http.response.alarm_responses import incident_details, silence_details
from mudra.metrics.incidents.incident import StoredIncident
from mudra.metrics.incidents.silence import Silence, SilenceCommand
from mudra.shared.refusal import Refusal
from mudra.unit_of_work import UnitOfWork

app = typer.Typer(no_args_is_help=True)
app.command(epilog="Example: mudra health picture fips --last P7D --csv")(picture)
app.command("matrix", epilog="Example: mudra health matrix --type fireq --json")(health_matrix)
app.command(epilog="Example: mudra health held --json")(held)
app.command(epilog=f"Example: mudra health incident {INCIDENT}")(incident)
_ACT = f'Example: mudra health act {INCIDENT} comment --text "gateway restarted"'
app.command("act", epilog=_ACT)(incident_act)
_RECEIPT = "7d8e0c5e-0f2c-4f7c-9b49-0d6f6a1c2b3d"
app.command(epilog=f'Example: mudra health admit {_RECEIPT} --reason "a festival"')(admit)
app.command(epilog=f'Example: mudra health refuse {_RECEIPT} --reason "a test run"')(refuse)
app.add_typer(webhook_commands)
T = TypeVar("T")
_NOTHING: Mapping[str, object] = MappingProxyType({})
_MAX_COUNT = 500

Entity = Annotated[str, typer.Option("--entity", help="Only this entity; all when left out.")]


@app.command("incidents", epilog="Example: mudra health incidents --open --json")
def list_incidents(
    only_open: Annotated[bool, typer.Option("--open", help="Only open incidents.")] = False,
    entity: Entity = "",
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """List the latest incidents, newest first."""

    async def act(work: UnitOfWork, _: datetime) -> list[StoredIncident]:
        which = work.incidents.to_handle if only_open else work.incidents.latest
        return list(await which(entity_id=entity or None, limit=_MAX_COUNT))

    shown = [incident_details(one) for one in _done(act, data_dir)]
    if as_json:
        show_json([msgspec.to_builtins(one) for one in shown])
        return
    show_table(
        ["ID", "BEGAN", "CAUSE", "STATE", "OWNER"],
        [
            [
                *(one.incident_id, one.began, one.cause),
                *(one.state, one.acknowledged_by or "none"),
            ]
            for one in shown
        ],
    )


@app.command(epilog="Example: mudra health acknowledge 7d8e0c5e-0f2c-4f7c-9b49-0d6f6a1c2b3d")
def acknowledge(
    incident_id: Annotated[UUID, typer.Argument(help="ID of the incident.")],
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Acknowledge an incident: assign it to yourself."""
    caller = Caller(operator_name())

    async def act(work: UnitOfWork, _: datetime) -> StoredIncident:
        return _success(await work.incident_acts.acknowledge(str(incident_id), caller))

    _show(incident_details(_done(act, data_dir)), as_json=as_json)


@app.command(
    epilog='Example: mudra health silence --entity KAVERI-FIP --for PT4H --reason "planned work"'
)
def silence(
    reason: Annotated[str, typer.Option(help="Why alerts are silenced.")],
    for_: Annotated[str, typer.Option("--for", help="How long: PT4H, P2D; at most P30D.")] = "PT4H",
    entity: Annotated[
        str,
        typer.Option("--entity", help="Only this entity, or AA/FIP for their path; else all."),
    ] = "",
    type_: Annotated[
        str, typer.Option("--type", help="Only this API, a code such as fireq; all when left out.")
    ] = "",
    in_: Annotated[str, typer.Option("--in", help="Start after this duration; else now.")] = "",
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Send no alerts about an entity, one of its APIs, or all members, for some time."""
    one, _, peer = entity.partition("/")
    later, length = read_duration("--in", in_ or "PT0S"), read_duration("--for", for_)

    async def act(work: UnitOfWork, now: datetime) -> Silence:
        command = SilenceCommand(one, type_, now + later, now + later + length, reason, peer)
        return _success(await work.silences.begin(command, Caller(operator_name()), now))

    _show(silence_details(_done(act, data_dir)), as_json=as_json)


@app.command(
    epilog='Example: mudra health maintenance KAVERI-FIP --in PT6H --for PT2H --reason "new disks"'
)
def maintenance(
    entity: Annotated[str, typer.Argument(help="The entity that is maintained.")],
    reason: Annotated[str, typer.Option(help="What is done.")],
    for_: Annotated[str, typer.Option("--for", help="How long: PT4H, P2D; at most P30D.")] = "PT4H",
    in_: Annotated[str, typer.Option("--in", help="Start after this duration; else now.")] = "",
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Announce planned maintenance: the entity is not rated meanwhile; unsilence ends it."""
    later, length = read_duration("--in", in_ or "PT0S"), read_duration("--for", for_)

    async def act(work: UnitOfWork, now: datetime) -> Silence:
        begins = now + later
        command = SilenceCommand(entity, "", begins, begins + length, reason, maintenance=True)
        return _success(await work.silences.begin(command, Caller(operator_name()), now))

    _show(silence_details(_done(act, data_dir)), as_json=as_json)


@app.command(epilog="Example: mudra health silences")
def silences(
    past: Annotated[
        bool, typer.Option("--past", help="Include silences that ended in the last 90 days.")
    ] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """List active and scheduled silences, earliest end first."""

    async def act(work: UnitOfWork, now: datetime) -> list[Silence]:
        return list(await work.silences.list(now, past=past))

    shown = [silence_details(one) for one in _done(act, data_dir)]
    if as_json:
        show_json([msgspec.to_builtins(one) for one in shown])
        return
    show_table(
        ["ID", "ENTITY", "API", "MAINTENANCE", "BEGINS", "ENDS", "BY", "REASON"],
        [
            [
                *(one.silence_id, one.entity_id or "all", one.type or "all"),
                "yes" if one.maintenance else "no",
                *(one.begins, one.ends, one.made_by, one.reason),
            ]
            for one in shown
        ],
    )


@app.command(epilog="Example: mudra health unsilence 7d8e0c5e-0f2c-4f7c-9b49-0d6f6a1c2b3d")
def unsilence(
    silence_id: Annotated[UUID, typer.Argument(help="ID, as mudra health silences shows it.")],
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """End a silence now; alerts resume for incidents that continue."""

    async def act(work: UnitOfWork, now: datetime) -> Silence:
        caller = Caller(operator_name())
        return _success(await work.silences.end(str(silence_id), caller, now))

    _show(silence_details(_done(act, data_dir)), as_json=as_json)


def _done(act: Callable[[UnitOfWork, datetime], Awaitable[T]], data_dir: Path | None) -> T:
    """Act in one transaction, which gives the time."""

    async def within(dependencies: Dependencies) -> T:
        async with dependencies.unit_of_work() as work:
            return await act(work, await work.people.now())

    return with_store(within, data_dir)


def _success(outcome: T | Refusal) -> T:
    """Return what a use case returned, or end with the text of its refusal."""
    if isinstance(outcome, Refusal):
        fail(outcome.sentence)
    return outcome


def _show(shown: msgspec.Struct, more: Mapping[str, object] = _NOTHING, *, as_json: bool) -> None:
    facts = {**msgspec.to_builtins(shown), **more}
    if as_json:
        show_json(facts)
    else:
        show_facts(facts)
