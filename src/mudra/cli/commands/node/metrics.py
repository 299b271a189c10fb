"""mudra metrics: stored metrics, for the machine of a node: check, repair, export."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import typer

from mudra.audit.event import Caller
from mudra.cli.commands.node.metrics_export import export
from mudra.cli.local.instant_option import read_instant
from mudra.cli.local.operator_name import operator_name
from mudra.cli.local.program import Dependencies, program
from mudra.cli.local.settings import AsJson, DataDir
from mudra.cli.output.output import Exit, fail, show_json
from mudra.cli.output.steps import steps_shown
from mudra.metrics.payload.catalogue import Tag, day_start, hour_start, window_start
from mudra.metrics.rollup.damage import BlockPlace, Checked
from mudra.metrics.rollup.stored_metrics import Remade, SumsPlace
from mudra.shared.time_text import iso_ms

app = typer.Typer(no_args_is_help=True, help="Stored metrics: check, repair, export.")
app.command(
    epilog="Example: mudra metrics export --from 2026-11-01 --to 2026-11-30 --out /srv/exports · "
    "mudra metrics export --from 2026-11-27 --format parquet --grain hour --out day.parquet · "
    "mudra metrics export --year 2026 --out /srv/archive"
)(export)

_STARTS: Final = {"hour": hour_start, "day": day_start}
_ORDER: Final = ("hour", "day", "window")
_SHOWN: Final = 50
At = Annotated[str, typer.Option(help="Its beginning, ISO 8601 with offset.")]


@app.command(epilog="Example: mudra metrics check --json")
def check(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Read all blocks of metrics and name the damaged ones; change nothing.

    It reads held reports that wait for a decision as well. The service may run. Exits with 1 when a
    block is damaged: mudra metrics remake --damaged then makes those again that consist of finer
    ones, and says what to do about the others. mudra doctor shows what the last check found.
    """
    found = _checked(data_dir, quiet=as_json)
    if as_json:
        damaged = [_document(one.place) | {"problem": one.problem} for one in found.damaged]
        show_json({"blocks": found.blocks, "damaged": damaged})
    else:
        for one in found.damaged[:_SHOWN]:
            typer.echo(f"damaged: {one.place.words}: {one.problem}")
        if more := len(found.damaged[_SHOWN:]):
            typer.echo(f"and {more} more: --json lists all")
        typer.echo(f"{found.blocks} blocks read, {len(found.damaged)} damaged")
    if found.damaged:
        raise typer.Exit(int(Exit.FAILED))


@app.command(
    epilog="Example: mudra metrics remake --damaged · "
    "mudra metrics remake --aa AA-ONE --grain hour --at 2026-11-27T08:00:00Z"
)
def remake(
    aa: Annotated[str, typer.Option(help="The AA, or all: the sums over all AAs.")] = "",
    grain: Annotated[str, typer.Option(help="hour or day.")] = "",
    at: At = "",
    damaged: Annotated[
        bool, typer.Option("--damaged", help="All that a check finds damaged.")
    ] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Make sums of metrics again of what they consist of: hours of windows, days of hours.

    The service may run. Sums over all AAs are made of those of each AA. Nothing finer has a
    window: its AA sends it again, once mudra metrics remove has removed it. Exits with 1 when
    something is left.
    """
    if damaged:
        if aa or grain or at:
            fail("--damaged takes no --aa, --grain and --at: it finds them itself", Exit.USAGE)
        places = [one.place for one in _checked(data_dir, quiet=as_json).damaged]
        wanted, lost = _to_remake(places), _reports(places)
    else:
        wanted, lost = [_one(aa, grain, at)], []

    async def act(dependencies: Dependencies) -> Sequence[Remade]:
        return await dependencies.stored_metrics.remake(wanted)

    done = program().in_store(act, data_dir)
    if as_json:
        show_json(
            {
                "made": [_sums_document(one) for one in done if not one.problem],
                "left": [
                    *(
                        _sums_document(one) | {"problem": one.problem}
                        for one in done
                        if one.problem
                    ),
                    *(_document(one) | {"problem": _way_out(one)} for one in lost),
                ],
            }
        )
    else:
        for one in done:
            typer.echo(f"{one.place.words}: {one.problem or 'made again'}")
        for report in lost:
            typer.echo(f"{report.words}: {_way_out(report)}")
        if not done and not lost:
            typer.echo("Nothing is damaged.")
    if lost or any(one.problem for one in done):
        raise typer.Exit(int(Exit.FAILED))


@app.command(
    epilog="Example: mudra metrics remove --aa AA-ONE --at 2026-11-27T08:10:00Z --tag requests"
)
def remove(
    aa: Annotated[str, typer.Option(help="The AA that sent it.")],
    at: At,
    tag: Annotated[str, typer.Option(help="requests or notifications.")],
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Remove a damaged report of ten minutes, so that its AA can send it again.

    Its receipts go as well: from then on the window counts as not reported, and the sums of its
    hour and day are made again without it. Of a window whose held report alone is damaged nothing
    else goes. An intact report is never removed.
    """
    window = read_instant("--at", at)
    tags = {"requests": Tag.REQUESTS, "notifications": Tag.NOTIFICATIONS}
    if tag not in tags:
        fail(f"--tag must be requests or notifications, not {tag}", Exit.USAGE)
    if window_start(window) != window:
        fail(
            f"--at must be the beginning of a window of ten minutes, not {iso_ms(window)}",
            Exit.USAGE,
        )

    async def act(dependencies: Dependencies) -> bool:
        caller = Caller(operator_name())
        return await dependencies.stored_metrics.remove(aa, tags[tag], window, caller)

    if not program().in_store(act, data_dir):
        fail(f"{aa} has no damaged report of {tag} at {iso_ms(window)}: nothing was changed")
    if as_json:
        show_json({"removed": True})
        return
    typer.echo(f"It is removed. Next: let {aa} send this window again, up to 7 days after its end.")


def _checked(data_dir: Path | None, *, quiet: bool) -> Checked:
    with steps_shown(quiet=quiet) as on_progress:

        async def act(dependencies: Dependencies) -> Checked:
            return await dependencies.stored_metrics.check(
                lambda done, total: on_progress("blocks", done, total)
            )

        return program().in_store(act, data_dir)


def _one(aa: str, grain: str, at: str) -> SumsPlace:
    if not aa or not grain or not at:
        fail("name --aa, --grain and --at, or --damaged", Exit.USAGE)
    if grain not in _STARTS:
        fail(f"--grain must be hour or day, not {grain}", Exit.USAGE)
    moment = read_instant("--at", at)
    if _STARTS[grain](moment) != moment:
        fail(f"--at must be the beginning of the {grain}, not {iso_ms(moment)}", Exit.USAGE)
    return SumsPlace("" if aa == "all" else aa, grain, moment)


def _to_remake(places: Sequence[BlockPlace]) -> list[SumsPlace]:
    """Returns the sums that have a damaged block: hours before days, those of all AAs last."""
    found = {
        SumsPlace("" if one.grain == "window" else one.aa_id, one.grain, one.at)
        for one in places
        if not one.is_report and not one.replaced
    }
    return sorted(
        found, key=lambda one: (not one.aa_id, _ORDER.index(one.grain), one.at, one.aa_id)
    )


def _reports(places: Sequence[BlockPlace]) -> list[BlockPlace]:
    """Returns one damaged block of each report."""
    return [*{one[:2] + one[3:]: one for one in places if one.is_report}.values()]


def _way_out(report: BlockPlace) -> str:
    if report.replaced:
        return "a later report replaced it, and no sum reads it: it goes with its time"
    tag = "requests" if report.tag == "req" else "notifications"
    return (
        f"nothing finer has it: {report.aa_id} sends it again (with mudra agent resend, where its "
        f"agent keeps it) once it is removed by mudra metrics remove --aa {report.aa_id} "
        f"--at {report.at:%Y-%m-%dT%H:%M:%SZ} --tag {tag}"
    )


def _sums_document(one: Remade) -> dict[str, object]:
    aa_id, grain, at = one.place
    return {"aaId": aa_id or "all", "grain": grain, "at": iso_ms(at)}


def _document(place: BlockPlace) -> dict[str, object]:
    return {
        "aaId": place.aa,
        "grain": place.grain,
        "at": iso_ms(place.at),
        "bucket": place.bucket,
        "tag": place.tag,
        **({"replacedVersion": place.replaced} if place.replaced else {}),
    }
