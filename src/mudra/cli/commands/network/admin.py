"""mudra admin: the admins of entities, and their accounts."""

from typing import Annotated

import typer

from mudra.cli.client.api import Answer, Api, given
from mudra.cli.command import owner_command
from mudra.cli.local.program import CommandFailed
from mudra.cli.output.shown import Shown, facts, warned
from mudra.cli.output.token_text import shown_tokens
from mudra.identity.accounts.email_address import AddressRefused, normalize_email

app = typer.Typer(no_args_is_help=True)

EntityId = Annotated[str, typer.Argument(help="The entity's ID.")]
Email = Annotated[str, typer.Argument(help="The admin's email address.")]
Name = Annotated[str, typer.Option(help="The admin's name.")]
_ADMINS = "/operator/v1/members/admins"


@owner_command(app, "mudra admin add KAVERI-FIP ravi@kaveribank.example")
async def add(api: Api, entity_id: EntityId, email: Email, name: Name = "") -> Shown:
    """Make someone an admin of an entity; a person without an account is invited by email."""
    before = await _user(api, email)
    is_admin = before is not None and entity_id in before["administers"]
    body = {"entityId": entity_id, "email": email, "name": name}
    return _changed(await api.post(f"{_ADMINS}/add", body), email, is_changed=not is_admin)


@owner_command(app, "mudra admin remove KAVERI-FIP lakshmi@kaveribank.example")
async def remove(api: Api, entity_id: EntityId, email: Email) -> Shown:
    """Remove an admin of an entity immediately; warns if no admin who can act is left."""
    body = {"entityId": entity_id, "email": email}
    return _changed(await api.post(f"{_ADMINS}/remove", body), email)


@owner_command(
    app, "mudra admin handover KAVERI-FIP lakshmi@kaveribank.example ravi@kaveribank.example"
)
async def handover(
    api: Api,
    entity_id: EntityId,
    leaving: Annotated[str, typer.Argument(help="Address of the admin who leaves.")],
    email: Annotated[str, typer.Argument(help="Address of the successor.")],
    name: Name = "",
) -> Shown:
    """Replace an admin with another person."""
    body = {"entityId": entity_id, "leaving": leaving, "email": email, "name": name}
    return _changed(await api.post(f"{_ADMINS}/handover", body), email)


@owner_command(app, "mudra admin disable lakshmi@kaveribank.example")
async def disable(api: Api, email: Email) -> Shown:
    """Disable a person's account; its tokens end."""
    return _account(await _of_user(api, email, "disable"))


@owner_command(app, "mudra admin enable lakshmi@kaveribank.example")
async def enable(api: Api, email: Email) -> Shown:
    """Enable a person's account again."""
    return _account(await _of_user(api, email, "enable"))


@owner_command(app, "mudra admin invite lakshmi@kaveribank.example")
async def invite(api: Api, email: Email) -> Shown:
    """Send a new link: invitation, or for an active user one to set a new password."""
    done = await _of_user(api, email, "invite")
    return facts({"account": _normalized(email), "result": done["status"]})


@owner_command(app, "mudra admin tokens lakshmi@kaveribank.example --json")
async def tokens(api: Api, email: Email) -> Shown:
    """List a person's User Access Tokens with the last use of each; never their text."""
    user = await _known(api, email)
    return shown_tokens((await api.get(f"/operator/v1/users/{user['userId']}/tokens"))["tokens"])


@owner_command(app, "mudra admin revoke lakshmi@kaveribank.example")
async def revoke(
    api: Api,
    email: Email,
    token_id: Annotated[
        str, typer.Option(help="Only this token, as mudra admin tokens shows it.")
    ] = "",
) -> Shown:
    """End a person's tokens immediately, all or one; the password stays."""
    done = await _of_user(api, email, "tokens/revoke", {"jti": token_id} if token_id else {})
    return facts({"tokens ended": int(done["status"].partition(" ")[0])})


@owner_command(app, "mudra admin reset-factor lakshmi@kaveribank.example", "reset-factor")
async def reset_factor(api: Api, email: Email) -> Shown:
    """Remove a person's lost second factor; tokens and sessions end, and the person is notified."""
    return _account(await _of_user(api, email, "second-factor/reset"))


@owner_command(app, "mudra admin contact KAVERI-FIP it-desk@kaveribank.example")
async def contact(
    api: Api,
    entity_id: EntityId,
    email: Annotated[str, typer.Argument(help="The address; '' removes it.")],
    phone: Annotated[
        str | None,
        typer.Option(help="Telephone that is answered day and night; '' removes it."),
    ] = None,
) -> Shown:
    """Set the backup contact of an entity: its address gets the same emails.

    Without --phone the telephone stays.
    """
    body = given({"entityId": entity_id, "email": email, "phone": phone})
    done = await api.post("/operator/v1/members/contact", body)
    return facts({"contact": done["contact"] or "none", "phone": done["phone"] or "none"})


def _changed(answer: Answer, email: str, *, is_changed: bool = True) -> Shown:
    able = sum(
        (one["role"], one["state"]) == ("admin", "active") and "invitedUntil" not in one
        for one in answer["admins"]
    )
    return _with_warnings(
        {
            "entity": answer["entityId"],
            "admin": _normalized(email),
            "result": "done" if is_changed else "unchanged",
            "admins who can act": able,
        },
        answer,
    )


def _account(answer: Answer) -> Shown:
    ended = answer["tokensEnded"]
    return _with_warnings(
        {"account": answer["email"], "state": answer["state"], "tokens ended": ended}, answer
    )


def _with_warnings(shown: dict[str, object], answer: Answer) -> Shown:
    warnings = answer["warnings"]
    return warned(facts(shown, {**shown, "warnings": warnings}), warnings)


async def _of_user(api: Api, email: str, act: str, body: dict[str, object] | None = None) -> Answer:
    user = await _known(api, email)
    return await api.post(f"/operator/v1/users/{user['userId']}/{act}", body)


async def _known(api: Api, email: str) -> Answer:
    user = await _user(api, email)
    if user is None:
        raise CommandFailed("no user of this ID, or the account is disabled")
    return user


async def _user(api: Api, email: str) -> Answer | None:
    """Find the user, however the address is typed; None when there is none."""
    address = _normalized(email)
    found = await api.pages("/operator/v1/users", "users", {"words": address})
    return next((one for one in found if one["email"] == address), None)


def _normalized(email: str) -> str:
    address = normalize_email(email)
    return email if isinstance(address, AddressRefused) else address
