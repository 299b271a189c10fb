"""mudra member: onboard members and list them."""

from typing import Annotated, Any

import typer

from mudra.cli.client.api import Answer, Api, in_path
from mudra.cli.command import owner_command
from mudra.cli.commands.network import member_bulk, member_file
from mudra.cli.output.output import Exit, fail
from mudra.cli.output.shown import Shown, facts, table
from mudra.shared.entity_type import EntityType

_MAX_REASON = 200
_SHOWN = ("entityId", "type", "name", "status", "secretExpiresAt", "admins")
_DAY = len("2026-11-29")
_NAMES = {"entityId": "ENTITY_ID", "adminEmail": "admin", "adminName": "admin-name", "name": "name"}
app = typer.Typer(no_args_is_help=True)
member_file.add_commands(app)
member_bulk.add_commands(app)


@owner_command(
    app,
    "mudra member onboard KAVERI-FIP --type FIP --name 'Kaveri Bank' "
    "--admin lakshmi@kaveribank.example",
)
async def onboard(  # one option for each field
    api: Api,
    entity_id: Annotated[str, typer.Argument(help="ID issued by the registry, such as HDFC-FIP.")],
    type: Annotated[EntityType, typer.Option(help="What the member is.")],  # noqa: A002  # the option's name
    name: Annotated[str, typer.Option(help="Name of the entity, for people.")],
    admin: Annotated[str, typer.Option(help="Email address of its designated admin.")],
    admin_name: Annotated[str, typer.Option(help="The admin's name.")] = "",
) -> Shown:
    """Onboard a member: create its first secret and invite its admin by email.

    Repeating it changes nothing. An ID that belongs to a member of another type,
    name or admin is refused.
    """
    body = {"entityId": entity_id, "type": type.value, "name": name}
    body |= {"adminEmail": admin, "adminName": admin_name}
    made = await api.post("/operator/v1/members", body, _NAMES)
    result = "onboarded" if made["created"] else "unchanged"
    shown = {"entity": made["entityId"], "type": made["type"], "name": made["name"]}
    member = await _member(api, made["entityId"])
    invitation = f"sent to {_as_stored(admin, member)}" if made["invited"] else "none needed"
    return facts(
        {**shown, "result": result, "invitation": invitation},
        {**_document(member), "result": result, "invited": made["invited"]},
    )


EntityId = Annotated[str, typer.Argument(help="The entity's ID.")]
Reason = Annotated[str, typer.Option(help="Why, for the audit: 1 to 200 characters.")]


@owner_command(app, "mudra member suspend KAVERI-FIP --reason 'secret leaked, INC-1042'")
async def suspend(api: Api, entity_id: EntityId, reason: Reason) -> Shown:
    """Stop giving an entity tokens, until it is restored."""
    return await _set_status(api, entity_id, "suspended", reason)


@owner_command(app, "mudra member restore KAVERI-FIP --reason 'new secret is in use'")
async def restore(api: Api, entity_id: EntityId, reason: Reason) -> Shown:
    """Give a suspended entity tokens again."""
    return await _set_status(api, entity_id, "active", reason)


@owner_command(
    app,
    "mudra member retire KAVERI-FIP --reason 'merged into DECCAN-FIP'",
    asks=lambda typed: f"{typed['entity_id']} can never be active again. Retire it?",
)
async def retire(api: Api, entity_id: EntityId, reason: Reason) -> Shown:
    """End an entity's membership for good: its ID is never active again.

    Its registry entry stays in the directory until `mudra registry retire`.
    """
    return await _set_status(api, entity_id, "retired", reason)


@owner_command(app, "mudra member list --json", "list")
async def list_members(api: Api) -> Shown:
    """List the members."""
    members = [_document(one) for one in await api.pages("/operator/v1/members", "members")]
    columns = {"ENTITY": "entityId", "TYPE": "type", "NAME": "name", "STATUS": "status"}
    return table(
        [*columns, "SECRET ENDS", "ADMINS"],
        [
            [
                *(str(one[name]) for name in columns.values()),
                one["secretExpiresAt"][:_DAY],
                ", ".join(one["admins"]),
            ]
            for one in members
        ],
        members,
    )


async def _set_status(api: Api, entity_id: str, status: str, reason: str) -> Shown:
    if not 1 <= len(reason) <= _MAX_REASON:
        fail(f"--reason must have 1 to {_MAX_REASON} characters", Exit.USAGE)
    body = {"status": status, "reason": reason}
    done = await api.post(f"/operator/v1/members/{in_path(entity_id)}/status", body)
    return facts({"entity": entity_id, "status": done["status"]})


@owner_command(app, "mudra member tokens FINSIGHT-FIU --json")
async def tokens(
    api: Api,
    entity_id: Annotated[str, typer.Argument(help="ID of the member.")],
    days: Annotated[int, typer.Option(min=1, max=366, help="Number of days to show.")] = 90,
) -> Shown:
    """Count the Entity Access Tokens issued to a member, by day (UTC)."""
    path = f"/operator/v1/members/{in_path(entity_id)}/tokens"
    rows = (await api.get(path, {"days": str(days)}))["days"]
    return table(["DAY", "TOKENS"], [[row["day"], str(row["count"])] for row in rows], rows)


def _as_stored(email: str, member: Answer) -> str:
    known = {address.casefold(): address for address in member["admins"]}
    return str(known.get(email.strip().casefold(), email))


async def _member(api: Api, entity_id: str) -> Answer:
    found = await api.pages("/operator/v1/members", "members", {"words": entity_id})
    return next(one for one in found if one["entityId"] == entity_id)


def _document(member: Answer) -> dict[str, Any]:
    return {name: member[name] for name in _SHOWN}
