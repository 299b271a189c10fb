"""mudra secret: read, reset and retire an entity's secret."""

from typing import Annotated

import typer

from mudra.cli.client.api_client import BaseUrl, get_json, post_json, read_as, signed_in
from mudra.cli.client.api_responses import Secret, SecretUses
from mudra.cli.client.tokens_file import SignedIn
from mudra.cli.local.settings import AsJson
from mudra.cli.output.output import show_facts, show_json
from mudra.tokens.secrets.secret import MAX_EXPIRY_DAYS, MAX_GRACE_DAYS

app = typer.Typer(no_args_is_help=True)

EntityId = Annotated[str, typer.Argument(help="The entity's ID.")]


@app.command(epilog="Example: mudra secret read KAVERI-FIP --json")
def read(entity_id: EntityId, base_url: BaseUrl = None, as_json: AsJson = False) -> None:
    """Show the entity's secret and when it expires."""
    entry = signed_in(base_url)
    response = post_json(f"{entry.base_url}/v1/entity/secret/read", {"entityId": entity_id}, entry)
    usage = {} if as_json else _usage_lines(entity_id, entry)
    _show(response, as_json=as_json, usage=usage)


@app.command(epilog="Example: mudra secret use KAVERI-FIP --json")
def use(entity_id: EntityId, base_url: BaseUrl = None, as_json: AsJson = False) -> None:
    """Show when and from where the current and the old secret were used."""
    entry = signed_in(base_url)
    if as_json:
        show_json(_use(entity_id, entry))
    else:
        show_facts({"entity": entity_id, **_usage_lines(entity_id, entry)})


@app.command(epilog="Example: mudra secret reset KAVERI-FIP --keep-old-days 7")
def reset(
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
    base_url: BaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Replace the entity's secret: at most 5 times in 24 hours, 5 minutes apart."""
    entry = signed_in(base_url)
    body: dict[str, object] = {"entityId": entity_id}
    if expiry_days is not None:
        body["secretExpiryDays"] = expiry_days
    if keep_old_days is not None:
        body["oldSecretValidity"] = keep_old_days
    _show(post_json(f"{entry.base_url}/v1/entity/secret/reset", body, entry), as_json=as_json)


@app.command(epilog="Example: mudra secret retire KAVERI-FIP")
def retire(entity_id: EntityId, base_url: BaseUrl = None, as_json: AsJson = False) -> None:
    """End the grace period of the old secret now."""
    entry = signed_in(base_url)
    url = f"{entry.base_url}/v1/entity/secret/retire"
    response = post_json(url, {"entityId": entity_id}, entry)
    if as_json:
        show_json(response)
    else:
        show_facts({"entity": entity_id, "old secret": "ended"})


def _use(entity_id: str, entry: SignedIn) -> dict[str, object]:
    return get_json(f"{entry.base_url}/v1/entity/secret/use", {"entityId": entity_id}, entry)


def _usage_lines(entity_id: str, entry: SignedIn) -> dict[str, object]:
    """Return a line for each secret, with the latest addresses."""
    uses = read_as(_use(entity_id, entry), SecretUses)
    lines: dict[str, object] = {}
    for label, use in (("this secret", uses.current), ("the old secret", uses.old)):
        if use is not None:
            addresses = ", ".join(one.address for one in use.addresses)
            lines[label] = use.summary + (f" ({addresses})" if addresses else "")
    return lines


def _show(
    response: dict[str, object], *, as_json: bool, usage: dict[str, object] | None = None
) -> None:
    if as_json:
        show_json(response)
        return
    found = read_as(response, Secret)
    fields: dict[str, object] = {
        "entity": found.entity_id,
        "secret": found.secret,
        "expires": found.expiration_date,
    }
    if found.old_secret_validity:
        fields["old secret"] = f"valid for {found.old_secret_validity} days from the reset"
    if found.old_secret_expiration_date:
        fields["old secret"] = f"valid until {found.old_secret_expiration_date}"
    show_facts(fields | {f"use of {label}": text for label, text in (usage or {}).items()})
