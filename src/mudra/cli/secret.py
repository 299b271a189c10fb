"""mudra secret: read, reset and retire an entity's secret."""

from typing import Annotated

import typer

from mudra.cli.output import show_facts, show_json
from mudra.cli.service_call import BaseUrl, post_json, signed_in
from mudra.cli.store import AsJson
from mudra.tokens.secret import MAX_EXPIRY_DAYS, MAX_GRACE_DAYS

app = typer.Typer(no_args_is_help=True, help="The secret of an entity that you administer.")

EntityId = Annotated[str, typer.Argument(help="The entity's ID.")]


@app.command(epilog="Example: mudra secret read KAVERI-FIP --json")
def read(entity_id: EntityId, base_url: BaseUrl = None, as_json: AsJson = False) -> None:
    """Show the entity's secret and when it expires."""
    entry = signed_in(base_url)
    _show(
        post_json(f"{entry.base_url}/v1/entity/secret/read", {"entityId": entity_id}, entry),
        as_json=as_json,
    )


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
            min=0, max=MAX_GRACE_DAYS, help="Days for which the old secret stays valid; 0: none."
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
    answer = post_json(f"{entry.base_url}/v1/entity/secret/retire", {"entityId": entity_id}, entry)
    if as_json:
        show_json(answer)
    else:
        show_facts({"entity": entity_id, "old secret": "ended"})


def _show(answer: dict[str, object], *, as_json: bool) -> None:
    if as_json:
        show_json(answer)
        return
    facts = {
        "entity": answer["entityId"],
        "secret": answer["secret"],
        "expires": answer["expirationDate"],
    }
    if answer.get("oldSecretValidity"):
        facts["old secret"] = f"valid for {answer['oldSecretValidity']} days from the reset"
    if answer.get("oldSecretExpirationDate"):
        facts["old secret"] = f"valid until {answer['oldSecretExpirationDate']}"
    show_facts(facts)
