"""mudra entity: how an entity of your own stands: what needs attention, what happened."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated

import httpx
import typer
from msgspec import structs

from mudra.cli.output import show_json, show_table
from mudra.cli.service_call import BaseUrl, entity_token, get_json, signed_in
from mudra.cli.settings import AsJson
from mudra.http.envelope import iso_ms

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


@app.command(epilog="Example: mudra entity health KAVERI-FIP --days 7")
def health(
    entity_id: EntityId,
    days: Annotated[int, typer.Option(min=1, max=400, help="Days up to now.")] = 1,
    prefix: Annotated[
        str, typer.Option(help="Path of the network's metrics.")
    ] = "/metrics/perf/v1",
    base_url: BaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Show health: a FIP its own APIs by AA, an AA its FIPs, a FIU the FIPs it depends on."""
    entry = signed_in(base_url)
    holder = structs.replace(entry, token=str(entity_token(entity_id, entry)["accessToken"]))
    url = str(httpx.URL(entry.base_url).copy_with(path=f"{prefix}/health"))
    answer = get_json(url, {}, holder)  # of the last day, by the service's clock
    if days > 1:
        end = str(answer["to"])
        begin = datetime.fromisoformat(end) - timedelta(days=days)
        answer = get_json(url, {"from": iso_ms(begin), "to": end}, holder)
    rows = answer["rows"]
    assert isinstance(rows, list)
    if as_json:
        show_json(answer)
        return
    show_table(
        ["AA", "FIP", "API", "STATUS", "CALLS", "SUCCESS %", "P50 MS", "P95 MS", "LONGEST MS"],
        [_api_line(row, api) for row in rows for api in row["apis"]],
    )
    if rows:
        proof = rows[0]["proof"]
        typer.echo(f"heard {proof['windowsHeard']} of {proof['windowsExpected']} windows")


def _api_line(row: Mapping[str, object], api: Mapping[str, object]) -> list[str]:
    """One API of one subject; what cannot be said is a dash, never 0 or 100 %."""
    rate, time = api["successRate"], api["time"]
    shown = f"{100 * rate:.2f}" if isinstance(rate, float | int) else "-"
    times = ["-"] * 3
    if isinstance(time, dict):
        times = [str(time[name]["estimate"]) for name in ("p50", "p95")] + [str(time["p100"])]
    names = [str(row["aaId"]), str(row["fipId"]), str(api["type"])]
    return [*names, str(api["status"] or "-"), str(api["requests"] or 0), shown, *times]
