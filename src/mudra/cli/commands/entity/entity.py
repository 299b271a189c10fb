"""mudra entity: the status of your own entity: what needs attention, what happened."""

from typing import Annotated

import typer

from mudra.cli.client.api import Answer, Api
from mudra.cli.command import user_command
from mudra.cli.commands.comparison import entity_comparison
from mudra.cli.commands.entity import entity_people, followed_fips
from mudra.cli.commands.entity.days import EntityId, Prefix, of_days
from mudra.cli.output.api_row import COLUMNS, api_line
from mudra.cli.output.output import show_table
from mudra.cli.output.shown import Shown, line, table

app = typer.Typer(no_args_is_help=True)
entity_people.add_commands(app)
followed_fips.add_commands(app)
entity_comparison.add_commands(app)

_PREFIX = "/metrics/perf/v1"


@user_command(app, "mudra entity attention KAVERI-FIP --json")
async def attention(api: Api, entity_id: EntityId) -> Shown:
    """Show what needs your attention now, the worst first, each with its reason."""
    lines = (await api.get("v1/entity/attention", {"entityId": entity_id}))["lines"]
    if not lines:
        return line("Nothing needs your attention.", lines)
    rows = [[one["weight"], one["what"], one["why"]] for one in lines]
    return table(["WHEN", "WHAT", "WHY"], rows, lines)


@user_command(app, "mudra entity activity KAVERI-FIP --limit 20")
async def activity(
    api: Api,
    entity_id: EntityId,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Events to show.")] = 20,
    after: Annotated[
        str, typer.Option(help="Continue after this event: `next` in the JSON output.")
    ] = "",
) -> Shown:
    """Show the tokens of the last 14 days by day, and the latest events of the entity's audit."""
    query = {"entityId": entity_id, "limit": str(limit), "after": after}
    answer = await api.get("v1/entity/activity", query)

    def show() -> None:
        show_table(
            ["DAY (UTC)", "ISSUED", "REFUSED"],
            [[day["day"], str(day["issued"]), str(day["refused"])] for day in answer["days"]],
        )
        names = ("at", "event", "outcome", "who", "address", "reason")
        show_table(
            ["WHEN", "WHAT", "OUTCOME", "WHO", "FROM", "REASON"],
            [[event[name] for name in names] for event in answer["events"]],
        )

    return Shown(answer, show)


@user_command(app, "mudra entity health KAVERI-FIP --days 7")
async def health(
    api: Api,
    entity_id: EntityId,
    days: Annotated[int, typer.Option(min=1, max=400, help="Days up to now.")] = 1,
    prefix: Prefix = _PREFIX,
) -> Shown:
    """Show health: a FIP its own APIs by AA, an AA its FIPs, a FIU the FIPs it depends on."""
    answer = await of_days(api, entity_id, f"{prefix}/health", days)

    def show() -> None:
        rows = answer["rows"]
        show_table(COLUMNS, [api_line(row, one) for row in rows for one in row["apis"]])
        for row in rows[:1]:
            proof = row["proof"]
            typer.echo(f"received {proof['windowsHeard']} of {proof['windowsExpected']} reports")

    return Shown(answer, show)


@user_command(app, "mudra entity reports SAARTHI-AA --days 7")
async def reports(
    api: Api,
    entity_id: EntityId,
    days: Annotated[int, typer.Option(min=1, max=31, help="Days up to now.")] = 1,
    prefix: Prefix = _PREFIX,
) -> Shown:
    """Show an AA's own gaps, and which of its reports were refused."""
    answer = await of_days(api, entity_id, f"{prefix}/receipts", days)

    def show() -> None:
        gaps, refused = answer["gaps"], answer["refused"]
        if not gaps and not refused:
            typer.echo("Every window of this time was reported, and nothing was refused.")
        if gaps:
            show_table(
                ["GAP FROM", "TO", "WINDOWS", "PAYLOAD"],
                [[gap["start"], gap["end"], str(gap["windows"]), gap["tag"]] for gap in gaps],
            )
        if refused:
            show_table(
                ["REFUSED", "FINDINGS", "FIRST FINDING"],
                [[one["at"], str(one["total"]), _first(one)] for one in refused],
            )

    return Shown(answer, show)


def _first(refused: Answer) -> str:
    return " ".join(f"{one['path']} {one['problem']}" for one in refused["findings"][:1])
