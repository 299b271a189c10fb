"""mudra registry binding: tokens from listed addresses alone, or from everywhere."""

from typing import Annotated

import httpx2
import typer

from mudra.cli.client.api_client import BaseUrl, get_json, post_json, read_as, signed_in
from mudra.cli.local.settings import AsJson
from mudra.cli.output.output import show_facts, show_json, show_table
from mudra.http.response.binding_responses import BindingResponse
from mudra.tokens.secrets.address_binding import AddressBinding


def add_to(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command(epilog="Example: mudra registry binding KAVERI-FIP enforce --json")(binding)


def binding(
    entity_id: Annotated[str, typer.Argument(help="The entity's ID.")],
    to: Annotated[
        AddressBinding | None,
        typer.Argument(
            help="enforce: only addresses that the live entry lists get tokens; network: as the "
            "network's setting says, or back to an operator's exemption; watch: exempt it from "
            "that setting (operators, who end it by network). Without it, nothing is switched."
        ),
    ] = None,
    even_so: Annotated[
        bool, typer.Option(help="Switch although addresses that used it lately are refused.")
    ] = False,
    as_operator: Annotated[
        bool, typer.Option(help="Act as an operator with the scope members, on any entity.")
    ] = False,
    base_url: BaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Show or switch from which addresses an entity's secret and registered key get tokens."""
    entry = signed_in(base_url)
    body: dict[str, object] = {"binding": to.value, "evenSo": even_so} if to else {}
    if as_operator:
        url = str(
            httpx2.URL(entry.base_url).copy_with(
                path=f"/operator/v1/members/{entity_id}/address-binding"
            )
        )
        answer = post_json(url, body, entry) if to else get_json(url, {}, entry)
    else:
        url = f"{entry.base_url}/v1/entity/address/binding"
        answer = (
            post_json(url, {"entityId": entity_id, **body}, entry)
            if to
            else get_json(url, {"entityId": entity_id}, entry)
        )
    if as_json:
        show_json(answer)
        return
    found = read_as(answer, BindingResponse)
    if found.foreign:
        show_table(
            ["ADDRESS NOT LISTED", "TOKENS", "LAST USED"],
            [[one.address, str(one.count), one.last_used_at] for one in found.foreign],
        )
    show_facts(
        {
            "entity": found.entity_id,
            "binding": found.binding,
            "exempt from the network's": "yes, by an operator" if found.exempt else "no",
            "network": found.network_binding,
            "other addresses": "refused" if found.enforced else "accepted",
            "listed": ", ".join(found.listed) or "none",
            f"not listed, last {found.days} days": found.foreign_count,
        }
    )
