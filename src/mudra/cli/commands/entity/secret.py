"""mudra secret: read, reset and retire an entity's secret."""

from collections.abc import Mapping
from typing import Annotated

import typer

from mudra.cli.client.api import Answer, Api
from mudra.cli.command import user_command
from mudra.cli.output.shown import Shown, facts
from mudra.tokens.secrets.secret import MAX_EXPIRY_DAYS, MAX_GRACE_DAYS

app = typer.Typer(no_args_is_help=True)

EntityId = Annotated[str, typer.Argument(help="The entity's ID.")]


@user_command(app, "mudra secret read KAVERI-FIP --json")
async def read(api: Api, entity_id: EntityId) -> Shown:
    """Show the entity's secret and when it expires."""
    secret = await api.post("v1/entity/secret/read", {"entityId": entity_id})
    used = _usage(await _use(api, entity_id))
    return _shown(secret, {f"use of {label}": text for label, text in used.items()})


@user_command(app, "mudra secret use KAVERI-FIP --json")
async def use(api: Api, entity_id: EntityId) -> Shown:
    """Show when and from where the current and the old secret were used."""
    uses = await _use(api, entity_id)
    return facts({"entity": entity_id, **_usage(uses)}, uses)


@user_command(app, "mudra secret reset KAVERI-FIP --keep-old-days 7")
async def reset(
    api: Api,
    entity_id: EntityId,
    expiry_days: Annotated[
        int | None,
        typer.Option(min=1, max=MAX_EXPIRY_DAYS, help="Days until the new secret expires."),
    ] = None,
    keep_old_days: Annotated[
        int | None,
        typer.Option(
            min=0, max=MAX_GRACE_DAYS, help="Days to keep the old secret working; 0: none."
        ),
    ] = None,
) -> Shown:
    """Replace the entity's secret: at most 5 times in 24 hours, 5 minutes apart."""
    body: dict[str, object] = {"entityId": entity_id}
    if expiry_days is not None:
        body["secretExpiryDays"] = expiry_days
    if keep_old_days is not None:
        body["oldSecretValidity"] = keep_old_days
    return _shown(await api.post("v1/entity/secret/reset", body), {})


@user_command(app, "mudra secret retire KAVERI-FIP")
async def retire(api: Api, entity_id: EntityId) -> Shown:
    """End the grace period of the old secret now."""
    done = await api.post("v1/entity/secret/retire", {"entityId": entity_id})
    return facts({"entity": entity_id, "old secret": "ended"}, done)


async def _use(api: Api, entity_id: str) -> Answer:
    return await api.get("v1/entity/secret/use", {"entityId": entity_id})


def _usage(uses: Answer) -> dict[str, object]:
    """Return a line for each secret, with the latest addresses."""
    lines: dict[str, object] = {}
    for label, one in (("this secret", uses["current"]), ("the old secret", uses.get("old"))):
        if one is not None:
            addresses = ", ".join(used["address"] for used in one["addresses"])
            lines[label] = one["summary"] + (f" ({addresses})" if addresses else "")
    return lines


def _shown(secret: Answer, usage: Mapping[str, object]) -> Shown:
    shown = {
        "entity": secret["entityId"],
        "secret": secret["secret"],
        "expires": secret["expirationDate"],
    }
    if validity := secret.get("oldSecretValidity"):
        shown["old secret"] = f"valid for {validity} days from the reset"
    if until := secret.get("oldSecretExpirationDate"):
        shown["old secret"] = f"valid until {until}"
    return facts({**shown, **usage}, secret)
