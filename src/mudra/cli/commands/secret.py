"""mudra secret: read, reset and retire an entity's secret."""

from typing import Annotated

import typer

from mudra.cli.client.api_client import BaseUrl, get_json, post_json, signed_in
from mudra.cli.client.tokens_file import SignedIn
from mudra.cli.local.settings import AsJson
from mudra.cli.output.output import show_facts, show_json
from mudra.tokens.secrets.secret import MAX_EXPIRY_DAYS, MAX_GRACE_DAYS

app = typer.Typer(no_args_is_help=True, help="The secret of an entity that you administer.")

EntityId = Annotated[str, typer.Argument(help="The entity's ID.")]


@app.command(epilog="Example: mudra secret read KAVERI-FIP --json")
def read(entity_id: EntityId, base_url: BaseUrl = None, as_json: AsJson = False) -> None:
    """Show the entity's secret and when it expires."""
    entry = signed_in(base_url)
    answer = post_json(f"{entry.base_url}/v1/entity/secret/read", {"entityId": entity_id}, entry)
    used = {} if as_json else _used(entity_id, entry)
    _show(answer, as_json=as_json, used=used)


@app.command(epilog="Example: mudra secret use KAVERI-FIP --json")
def use(entity_id: EntityId, base_url: BaseUrl = None, as_json: AsJson = False) -> None:
    """Show when and from where the current and the old secret were used."""
    entry = signed_in(base_url)
    if as_json:
        show_json(_use(entity_id, entry))
    else:
        show_facts({"entity": entity_id, **_used(entity_id, entry)})


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


def _use(entity_id: str, entry: SignedIn) -> dict[str, object]:
    return get_json(f"{entry.base_url}/v1/entity/secret/use", {"entityId": entity_id}, entry)


def _used(entity_id: str, entry: SignedIn) -> dict[str, object]:
    """Say it in a line for each secret, with the latest addresses."""
    answer = _use(entity_id, entry)
    facts: dict[str, object] = {}
    for name, words in (("current", "this secret"), ("old", "the old secret")):
        secret = answer.get(name)
        if isinstance(secret, dict):
            places = ", ".join(str(one["address"]) for one in secret["addresses"])
            facts[words] = f"{secret['summary']}" + (f" ({places})" if places else "")
    return facts


def _told_apart(used: dict[str, object]) -> dict[str, object]:
    """Name the lines of use so that they stand beside those of the secrets themselves."""
    return {f"use of {words}": text for words, text in used.items()}


def _show(
    answer: dict[str, object], *, as_json: bool, used: dict[str, object] | None = None
) -> None:
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
    show_facts(facts | _told_apart(used or {}))
