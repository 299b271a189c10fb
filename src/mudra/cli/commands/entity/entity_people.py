"""mudra entity admins and related commands: the admins of your own entity."""

from typing import Annotated

import typer

from mudra.cli.client.api_client import BaseUrl, post_json, read_as, signed_in
from mudra.cli.local.settings import AsJson
from mudra.cli.output.output import show_json, show_table
from mudra.http.response.account_responses import AdminDetails, AdminsResponse

EntityId = Annotated[str, typer.Argument(help="ID of an entity that you administer.")]
Email = Annotated[str, typer.Argument(help="Email address of the person.")]
Name = Annotated[str, typer.Option(help="The person's name, if they have no account yet.")]


def admins(entity_id: EntityId, base_url: BaseUrl = None, as_json: AsJson = False) -> None:
    """List the entity's admins, its readers and its backup contact."""
    _call("admin/list", {"entityId": entity_id}, base_url, as_json=as_json)


def add_admin(
    entity_id: EntityId,
    email: Email,
    name: Name = "",
    base_url: BaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Add an admin; a person without an account is invited by email."""
    body = {"entityId": entity_id, "email": email, "name": name}
    _call("admin/add", body, base_url, as_json=as_json)


def add_reader(
    entity_id: EntityId,
    email: Email,
    name: Name = "",
    base_url: BaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Invite a reader, who sees the entity's pages and changes nothing."""
    body = {"entityId": entity_id, "email": email, "name": name, "role": "reader"}
    _call("admin/add", body, base_url, as_json=as_json)


def remove_admin(
    entity_id: EntityId, email: Email, base_url: BaseUrl = None, as_json: AsJson = False
) -> None:
    """Remove an admin or a reader of the entity immediately."""
    _call("admin/remove", {"entityId": entity_id, "email": email}, base_url, as_json=as_json)


def hand_over(
    entity_id: EntityId,
    email: Email,
    name: Name = "",
    base_url: BaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Hand over your own admin role: you keep it until the invited person accepts."""
    body = {"entityId": entity_id, "email": email, "name": name}
    _call("admin/handover", body, base_url, as_json=as_json)


def invite_again(
    entity_id: EntityId, email: Email, base_url: BaseUrl = None, as_json: AsJson = False
) -> None:
    """Send a pending invitation again, with a new link for 24 hours."""
    body = {"entityId": entity_id, "email": email}
    _call("admin/invite-again", body, base_url, as_json=as_json)


def contact(
    entity_id: EntityId,
    email: Annotated[str, typer.Argument(help="Email address; empty for none.")],
    phone: Annotated[str, typer.Option(help="Telephone that is answered day and night.")] = "",
    base_url: BaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Set the backup contact: its address gets the same emails."""
    body = {"entityId": entity_id, "email": email, "phone": phone}
    _call("contact/set", body, base_url, as_json=as_json)


def _call(path: str, body: dict[str, str], base_url: str | None, *, as_json: bool) -> None:
    entry = signed_in(base_url)
    answer = post_json(f"{entry.base_url}/v1/entity/{path}", {**body}, entry)
    if as_json:
        show_json(answer)
        return
    found = read_as(answer, AdminsResponse)
    show_table(
        ["PERSON", "ROLE", "NAME", "STATE"],
        [[one.email, one.role, one.name, _state(one)] for one in found.admins],
    )
    reached = " · ".join(one for one in (found.contact, found.phone) if one)
    typer.echo(f"backup contact: {reached or 'none'}")
    for warning in found.warnings:
        typer.echo(f"warning: {warning}", err=True)


def _state(one: AdminDetails) -> str:
    """Return the state; of an invitation also until when, and whose role it takes over."""
    until = f" until {one.invited_until}" if one.invited_until else ""
    over = f", takes over from {one.takes_over_from}" if one.takes_over_from else ""
    return f"{one.state}{until}{over}"
