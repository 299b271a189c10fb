"""mudra entity admins and its changes: who looks after an entity of your own."""

from typing import Annotated

import typer

from mudra.cli.client.api_client import BaseUrl, post_json, signed_in
from mudra.cli.local.settings import AsJson
from mudra.cli.output.output import show_json, show_table

EntityId = Annotated[str, typer.Argument(help="ID of an entity that you administer.")]
Email = Annotated[str, typer.Argument(help="E-mail address of the person.")]
Name = Annotated[str, typer.Option(help="The person's name, for one who has no account yet.")]


def admins(entity_id: EntityId, base_url: BaseUrl = None, as_json: AsJson = False) -> None:
    """List who looks after the entity, and its backup contact."""
    _call("admin/list", {"entityId": entity_id}, base_url, as_json=as_json)


def add_admin(
    entity_id: EntityId,
    email: Email,
    name: Name = "",
    base_url: BaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Add an admin; who has no account yet is invited by mail."""
    order = {"entityId": entity_id, "email": email, "name": name}
    _call("admin/add", order, base_url, as_json=as_json)


def remove_admin(
    entity_id: EntityId, email: Email, base_url: BaseUrl = None, as_json: AsJson = False
) -> None:
    """End somebody's rights on the entity at once."""
    _call("admin/remove", {"entityId": entity_id, "email": email}, base_url, as_json=as_json)


def hand_over(
    entity_id: EntityId,
    email: Email,
    name: Name = "",
    base_url: BaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Put somebody in your own place."""
    order = {"entityId": entity_id, "email": email, "name": name}
    _call("admin/handover", order, base_url, as_json=as_json)


def contact(
    entity_id: EntityId,
    email: Annotated[str, typer.Argument(help="E-mail address; empty for none.")],
    base_url: BaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Set the backup contact, who gets the letters too."""
    _call("contact/set", {"entityId": entity_id, "email": email}, base_url, as_json=as_json)


def _call(act: str, order: dict[str, str], base_url: str | None, *, as_json: bool) -> None:
    entry = signed_in(base_url)
    answer = post_json(f"{entry.base_url}/v1/entity/{act}", {**order}, entry)
    if as_json:
        show_json(answer)
        return
    people, warnings = answer["admins"], answer["warnings"]
    assert isinstance(people, list)
    assert isinstance(warnings, list)
    show_table(
        ["ADMIN", "NAME", "STATE"],
        [[str(one[name]) for name in ("email", "name", "state")] for one in people],
    )
    typer.echo(f"backup contact: {answer['contact'] or 'none'}")
    for warning in warnings:
        typer.echo(f"warning: {warning}", err=True)
