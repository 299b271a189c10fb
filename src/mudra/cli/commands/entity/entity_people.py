"""mudra entity admins and related commands: the admins of your own entity."""

from typing import Annotated

import typer

from mudra.cli.client.api import Answer, Api, given
from mudra.cli.command import user_command
from mudra.cli.output.output import show_table
from mudra.cli.output.shown import Shown, warned

EntityId = Annotated[str, typer.Argument(help="ID of an entity that you administer.")]
Email = Annotated[str, typer.Argument(help="Email address of the person.")]
Name = Annotated[str, typer.Option(help="The person's name, if they have no account yet.")]


def add_commands(app: typer.Typer) -> None:
    """Add the commands of this file."""
    user_command(app, "mudra entity admins KAVERI-FIP")(admins)
    user_command(app, "mudra entity add-admin KAVERI-FIP ravi@kaveribank.example")(add_admin)
    user_command(app, "mudra entity remove-admin KAVERI-FIP ravi@kaveribank.example")(remove_admin)
    user_command(app, "mudra entity add-reader KAVERI-FIP noc@kaveribank.example")(add_reader)
    user_command(app, "mudra entity hand-over KAVERI-FIP ravi@kaveribank.example")(hand_over)
    user_command(app, "mudra entity invite-again KAVERI-FIP ravi@kaveribank.example")(invite_again)
    user_command(app, "mudra entity contact KAVERI-FIP it-desk@kaveribank.example")(contact)


async def admins(api: Api, entity_id: EntityId) -> Shown:
    """List the entity's admins, its readers and its backup contact."""
    return await _call(api, "admin/list", entityId=entity_id)


async def add_admin(api: Api, entity_id: EntityId, email: Email, name: Name = "") -> Shown:
    """Add an admin; a person without an account is invited by email."""
    return await _call(api, "admin/add", entityId=entity_id, email=email, name=name)


async def add_reader(api: Api, entity_id: EntityId, email: Email, name: Name = "") -> Shown:
    """Invite a reader, who sees the entity's pages and changes nothing."""
    return await _call(api, "admin/add", entityId=entity_id, email=email, name=name, role="reader")


async def remove_admin(api: Api, entity_id: EntityId, email: Email) -> Shown:
    """Remove an admin or a reader of the entity immediately."""
    return await _call(api, "admin/remove", entityId=entity_id, email=email)


async def hand_over(api: Api, entity_id: EntityId, email: Email, name: Name = "") -> Shown:
    """Hand over your own admin role: you keep it until the invited person accepts."""
    return await _call(api, "admin/handover", entityId=entity_id, email=email, name=name)


async def invite_again(api: Api, entity_id: EntityId, email: Email) -> Shown:
    """Send a pending invitation again, with a new link for 24 hours."""
    return await _call(api, "admin/invite-again", entityId=entity_id, email=email)


async def contact(
    api: Api,
    entity_id: EntityId,
    email: Annotated[str, typer.Argument(help="Email address; '' removes it.")],
    phone: Annotated[
        str | None,
        typer.Option(help="Telephone that is answered day and night; '' removes it."),
    ] = None,
) -> Shown:
    """Set the backup contact: its address gets the same emails.

    Without --phone the telephone stays.
    """
    return await _call(api, "contact/set", entityId=entity_id, email=email, phone=phone)


async def _call(api: Api, path: str, **body: str | None) -> Shown:
    answer = await api.post(f"v1/entity/{path}", given(body))

    def show() -> None:
        show_table(
            ["PERSON", "ROLE", "NAME", "STATE"],
            [[one["email"], one["role"], one["name"], _state(one)] for one in answer["admins"]],
        )
        reached = " · ".join(one for one in (answer["contact"], answer["phone"]) if one)
        typer.echo(f"backup contact: {reached or 'none'}")

    return warned(Shown(answer, show), answer["warnings"])


def _state(one: Answer) -> str:
    """Return the state; of an invitation also until when, and whose role it takes over."""
    until = f" until {one['invitedUntil']}" if "invitedUntil" in one else ""
    over = f", takes over from {one['takesOverFrom']}" if "takesOverFrom" in one else ""
    return f"{one['state']}{until}{over}"
