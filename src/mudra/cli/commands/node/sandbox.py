"""mudra sandbox: fill the demonstration network with traffic, move its clock."""

import re
from datetime import datetime, timedelta
from typing import Annotated, Final

import typer
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from mudra.cli.client.api import Api
from mudra.cli.command import open_command
from mudra.cli.commands.node import sandbox_fault
from mudra.cli.local.program import Dependencies, program
from mudra.cli.local.settings import AsJson, DataDir
from mudra.cli.output.output import Exit, console, fail, show_json
from mudra.cli.output.shown import Shown, facts
from mudra.demo.past import DEMO_FIPS, Past
from mudra.demo.traffic import Disruption, Traffic
from mudra.metrics.payload.catalogue import WINDOW, WINDOWS_PER_DAY, RequestType, window_start
from mudra.metrics.rollup.coverage import TimeRange

app = typer.Typer(no_args_is_help=True)
app.add_typer(sandbox_fault.app, name="fault")

_INCIDENT: Final = re.compile(
    r"(?P<fip>[A-Za-z0-9@._-]{1,64})(?::(?P<type>[a-z]+))?@(?P<start>\d{1,5})\+(?P<length>\d{1,5})"
)
_TYPES: Final = {str(code): code for code in RequestType}


@app.callback()
def sandbox() -> None:
    """Group the sandbox's commands."""


@open_command(app, "mudra sandbox advance P7D")
async def advance(
    api: Api,
    by: Annotated[
        str, typer.Argument(metavar="DURATION", help="ISO 8601, weeks to seconds: PT6M, P1D, P2W.")
    ],
) -> Shown:
    """Move the sandbox's clock forward, so that grace periods, limits and expiry pass."""
    answer = await api.post("/sandbox/v1/clock", {"advance": by})
    return facts({"now": answer["now"]}, answer)


@app.command(epilog="Example: mudra sandbox traffic --days 30 --incident KAVERI-FIP:fif@1800+120")
def traffic(
    days: Annotated[float, typer.Option(min=0.01, max=60, help="Days to fill, up to now.")] = 30,
    incident: Annotated[
        list[str] | None,
        typer.Option(
            help="A FIP fails: FIP[:TYPE]@START+LENGTH, minutes from the beginning.",
            metavar="FIP[:TYPE]@START+LENGTH",
        ),
    ] = None,
    load: Annotated[
        int, typer.Option(min=1, max=100000, help="FI requests of the busiest window.")
    ] = 300,
    seed: Annotated[int, typer.Option(help="The same seed gives the same traffic.")] = 1,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Fill the past of the demonstration network with traffic, and incidents on request.

    Windows that an agent reported stay as they are, unless an incident affects them. The
    service sums up hours and days afterwards; health is exact before that.
    """

    async def act(dependencies: Dependencies) -> dict[str, object]:
        end = window_start(dependencies.clock())
        within = TimeRange(end - max(1, round(days * WINDOWS_PER_DAY)) * WINDOW, end)
        disruptions = [_disruption(words, within.start) for words in incident or []]
        return await _fill(
            dependencies, Past(Traffic(DEMO_FIPS, load, disruptions), within, seed), as_json
        )

    filled = program().in_store(act, data_dir)
    if as_json:
        show_json(filled)
    else:
        console.print(
            "{payloads} payloads of {aas} AAs over {windows} windows filled".format(**filled)
        )


async def _fill(dependencies: Dependencies, past: Past, quiet: bool) -> dict[str, object]:
    aas = await dependencies.demo_aas()
    if not aas:
        fail(
            f"there is no demonstration network in {dependencies.settings.data_dir}: "
            "start one with mudra serve --sandbox --demo"
        )
    bar = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*bar, console=console, disable=quiet) as progress:
        lapse = progress.add_task("time-lapse", total=len(past.days) * len(aas))
        payloads = await dependencies.fill_demo_past(past, aas, lambda: progress.advance(lapse))
    return {
        "payloads": payloads,
        "aas": len(aas),
        "windows": len(past.within.windows),
        "from": past.within.start.isoformat(),
        "to": past.within.end.isoformat(),
    }


def _disruption(words: str, begin: datetime) -> Disruption:
    found = _INCIDENT.fullmatch(words)
    if found is None or found["fip"] not in DEMO_FIPS or found["type"] not in {None, *_TYPES}:
        fail(
            "--incident must be FIP[:TYPE]@START+LENGTH in minutes, such as "
            f"KAVERI-FIP:fif@60+30; FIPs: {', '.join(DEMO_FIPS)}; types: {', '.join(_TYPES)}",
            Exit.USAGE,
        )
    start = begin + timedelta(minutes=int(found["start"]))
    code = _TYPES[found["type"]] if found["type"] else None
    return Disruption(found["fip"], code, start, start + timedelta(minutes=int(found["length"])))
