"""mudra registry binding: tokens from listed addresses alone, or from everywhere."""

from typing import Annotated

import typer

from mudra.cli.client.api import Answer, Api, in_path
from mudra.cli.command import user_command
from mudra.cli.output.output import show_facts, show_table
from mudra.cli.output.shown import Shown
from mudra.tokens.secrets.address_binding import AddressBinding


def add_to(app: typer.Typer) -> None:
    """Add the command of this file."""
    user_command(app, "mudra registry binding KAVERI-FIP enforce --json")(binding)


async def binding(
    api: Api,
    entity_id: Annotated[str, typer.Argument(help="The entity's ID.")],
    to: Annotated[
        AddressBinding | None,
        typer.Argument(
            help="enforce: only addresses that the live entry lists get tokens; network: as the "
            "network's setting says, or back to an operator's exemption; watch: exempt it from "
            "that setting (operators, who end it by network or enforce). Without it, nothing is "
            "switched."
        ),
    ] = None,
    even_so: Annotated[
        bool, typer.Option(help="Switch although addresses that used it lately are refused.")
    ] = False,
    as_operator: Annotated[
        bool, typer.Option(help="Act as an operator with the scope members, on any entity.")
    ] = False,
) -> Shown:
    """Show or switch from which addresses an entity's secret and registered key get tokens."""
    body: dict[str, object] = {"binding": to.value, "evenSo": even_so} if to else {}
    if as_operator:
        path = f"/operator/v1/members/{in_path(entity_id)}/address-binding"
        found = await (api.post(path, body) if to else api.get(path))
    else:
        path = "v1/entity/address/binding"
        found = await (
            api.post(path, {"entityId": entity_id, **body})
            if to
            else api.get(path, {"entityId": entity_id})
        )
    return Shown(found, lambda: _show(found))


def _show(found: Answer) -> None:
    if found["foreign"]:
        show_table(
            ["ADDRESS NOT LISTED", "TOKENS", "LAST USED"],
            [[one["address"], str(one["count"]), one["lastUsedAt"]] for one in found["foreign"]],
        )
    show_facts(
        {
            "entity": found["entityId"],
            "binding": found["binding"],
            "exempt from the network's": "yes, by an operator" if found["exempt"] else "no",
            "network": found["networkBinding"],
            "other addresses": "refused" if found["enforced"] else "accepted",
            "listed": ", ".join(found["listed"]) or "none",
            f"not listed, last {found['days']} days": found["foreignCount"],
        }
    )
