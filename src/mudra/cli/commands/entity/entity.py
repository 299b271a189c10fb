"""mudra entity: the status of your own entity: what needs attention, what happened."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated

import httpx2
import typer

from mudra.cli.client.api_client import BaseUrl, as_entity, get_json, read_as, signed_in
from mudra.cli.client.api_responses import Activity, Attention, EndOfTime, Reports
from mudra.cli.commands.entity.entity_people import (
    add_admin,
    add_reader,
    admins,
    contact,
    hand_over,
    invite_again,
    remove_admin,
)
from mudra.cli.commands.entity.followed_fips import follow, followed, unfollow
from mudra.cli.local.settings import AsJson
from mudra.cli.output.api_row import COLUMNS, api_line
from mudra.cli.output.output import show_json, show_table
from mudra.http.response.health_responses import PictureResponse
from mudra.shared.finding import Finding
from mudra.shared.time_text import iso_ms

app = typer.Typer(no_args_is_help=True)

app.command(epilog="Example: mudra entity admins KAVERI-FIP")(admins)
app.command(epilog="Example: mudra entity add-admin KAVERI-FIP ravi@kaveribank.example")(add_admin)
app.command(epilog="Example: mudra entity remove-admin KAVERI-FIP ravi@kaveribank.example")(
    remove_admin
)
app.command(epilog="Example: mudra entity add-reader KAVERI-FIP noc@kaveribank.example")(add_reader)
app.command(epilog="Example: mudra entity hand-over KAVERI-FIP ravi@kaveribank.example")(hand_over)
app.command(epilog="Example: mudra entity invite-again KAVERI-FIP ravi@kaveribank.example")(
    invite_again
)
app.command(epilog="Example: mudra entity contact KAVERI-FIP it-desk@kaveribank.example")(contact)
app.command(epilog="Example: mudra entity followed FINSIGHT-FIU --json")(followed)
app.command(epilog="Example: mudra entity follow FINSIGHT-FIU KAVERI-FIP")(follow)
app.command(epilog="Example: mudra entity unfollow FINSIGHT-FIU KAVERI-FIP")(unfollow)

EntityId = Annotated[str, typer.Argument(help="ID of an entity that you administer.")]
_PREFIX = "/metrics/perf/v1"
_Prefix = Annotated[str, typer.Option("--prefix", help="Path of the network's metrics.")]


@app.command(epilog="Example: mudra entity attention KAVERI-FIP --json")
def attention(entity_id: EntityId, base_url: BaseUrl = None, as_json: AsJson = False) -> None:
    """Show what needs your attention now, the worst first, each with its reason."""
    entry = signed_in(base_url)
    url = f"{entry.base_url}/v1/entity/attention"
    answer = get_json(url, {"entityId": entity_id}, entry)
    lines = read_as(answer, Attention).lines
    if as_json:
        show_json(answer["lines"])
    elif lines:
        show_table(
            ["WHEN", "WHAT", "WHY"],
            [[line.weight, line.what, line.why] for line in lines],
        )
    else:
        typer.echo("Nothing needs your attention.")


@app.command(epilog="Example: mudra entity activity KAVERI-FIP --limit 20")
def activity(
    entity_id: EntityId,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Events to show.")] = 20,
    after: Annotated[
        str, typer.Option(help="Continue after this event: `next` in the JSON output.")
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
    found = read_as(answer, Activity)
    show_table(
        ["DAY (UTC)", "ISSUED", "REFUSED"],
        [[day.day, str(day.issued), str(day.refused)] for day in found.days],
    )
    show_table(
        ["WHEN", "WHAT", "OUTCOME", "WHO", "FROM", "REASON"],
        [
            [event.at, event.event, event.outcome, event.who, event.address, event.reason]
            for event in found.events
        ],
    )


@app.command(epilog="Example: mudra entity health KAVERI-FIP --days 7")
def health(
    entity_id: EntityId,
    days: Annotated[int, typer.Option(min=1, max=400, help="Days up to now.")] = 1,
    prefix: _Prefix = _PREFIX,
    base_url: BaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Show health: a FIP its own APIs by AA, an AA its FIPs, a FIU the FIPs it depends on."""
    answer = _of_days(entity_id, f"{prefix}/health", days, base_url)
    if as_json:
        show_json(answer)
        return
    rows = read_as(answer, PictureResponse).rows
    show_table(COLUMNS, [api_line(row, api) for row in rows for api in row.apis])
    if rows:
        proof = rows[0].proof
        typer.echo(f"received {proof.windows_received} of {proof.windows_expected} windows")


@app.command(epilog="Example: mudra entity reports SAARTHI-AA --days 7")
def reports(
    entity_id: EntityId,
    days: Annotated[int, typer.Option(min=1, max=31, help="Days up to now.")] = 1,
    prefix: _Prefix = _PREFIX,
    base_url: BaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Show an AA's own gaps, and which of its reports were refused."""
    answer = _of_days(entity_id, f"{prefix}/receipts", days, base_url)
    if as_json:
        show_json(answer)
        return
    found = read_as(answer, Reports)
    if not found.gaps and not found.refused:
        typer.echo("Every window of this time was reported, and nothing was refused.")
    if found.gaps:
        show_table(
            ["GAP FROM", "TO", "WINDOWS", "PAYLOAD"],
            [[gap.start, gap.end, str(gap.windows), gap.tag] for gap in found.gaps],
        )
    if found.refused:
        show_table(
            ["REFUSED", "FINDINGS", "FIRST FINDING"],
            [[one.at, str(one.total), " ".join(_first(one.findings))] for one in found.refused],
        )


def _first(findings: Sequence[Finding]) -> tuple[str, ...]:
    return (findings[0].path, findings[0].problem) if findings else ()


def _of_days(entity_id: str, path: str, days: int, base_url: str | None) -> dict[str, object]:
    """Read what an entity sees of its last days, by the service's clock."""
    entry = signed_in(base_url)
    holder = as_entity(entity_id, entry)
    url = str(httpx2.URL(entry.base_url).copy_with(path=path))
    answer = get_json(url, {}, holder)  # of the last day
    if days == 1:
        return answer
    end = read_as(answer, EndOfTime).to
    begin = datetime.fromisoformat(end) - timedelta(days=days)
    return get_json(url, {"from": iso_ms(begin), "to": end}, holder)
