"""mudra entity: how an entity of your own stands: what needs attention, what happened."""

from typing import Annotated

import typer

from mudra.cli.output import show_json, show_table
from mudra.cli.service_call import BaseUrl, get_json, signed_in
from mudra.cli.settings import AsJson

app = typer.Typer(no_args_is_help=True, help="How an entity that you administer stands.")

EntityId = Annotated[str, typer.Argument(help="ID of an entity that you administer.")]
_EVENT = ("at", "event", "outcome", "who", "address", "reason")


@app.command(epilog="Example: mudra entity attention KAVERI-FIP --json")
def attention(entity_id: EntityId, base_url: BaseUrl = None, as_json: AsJson = False) -> None:
    """Show what needs your attention now, the worst first, each with its reason."""
    entry = signed_in(base_url)
    url = f"{entry.base_url}/v1/entity/attention"
    lines = get_json(url, {"entityId": entity_id}, entry)["lines"]
    assert isinstance(lines, list)
    if as_json:
        show_json(lines)
    elif lines:
        show_table(
            ["WHEN", "WHAT", "WHY"],
            [[str(line[name]) for name in ("weight", "what", "why")] for line in lines],
        )
    else:
        typer.echo("All is well. Nothing needs your attention.")


@app.command(epilog="Example: mudra entity activity KAVERI-FIP --limit 20")
def activity(
    entity_id: EntityId,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Events to show.")] = 20,
    after: Annotated[
        str, typer.Option(help="Go on after this event: `next` of an answer in JSON.")
    ] = "",
    base_url: BaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Show the tokens of the last 14 days by day, and the latest events of the entity's audit."""
    entry = signed_in(base_url)
    query = {"entityId": entity_id, "limit": str(limit)} | ({"after": after} if after else {})
    answer = get_json(f"{entry.base_url}/v1/entity/activity", query, entry)
    if as_json:
        show_json(answer)
        return
    days, events = answer["days"], answer["events"]
    assert isinstance(days, list)
    assert isinstance(events, list)
    show_table(
        ["DAY (UTC)", "ISSUED", "REFUSED"],
        [[str(day[name]) for name in ("day", "issued", "refused")] for day in days],
    )
    show_table(
        ["WHEN", "WHAT", "OUTCOME", "WHO", "FROM", "REASON"],
        [[str(event[name]) for name in _EVENT] for event in events],
    )
