"""mudra secret: read, reset and retire an entity's secret."""

import re
import subprocess
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Final

import typer
from msgspec.structs import replace

from mudra.cli.client.api import Answer, Api
from mudra.cli.client.private_file import write_private
from mudra.cli.command import user_command
from mudra.cli.local.duration_option import read_duration
from mudra.cli.local.program import CommandFailed
from mudra.cli.output.output import Exit
from mudra.cli.output.shown import Shown, facts
from mudra.tokens.secrets.secret import MAX_EXPIRY_DAYS, MAX_GRACE_DAYS

app = typer.Typer(no_args_is_help=True)
_DAYS: Final = re.compile(r"(\d{1,3})d")

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
        int, typer.Option(min=1, max=MAX_EXPIRY_DAYS, help="Days until the new secret expires.")
    ] = MAX_EXPIRY_DAYS,
    keep_old_days: Annotated[
        int,
        typer.Option(
            min=0, max=MAX_GRACE_DAYS, help="Days to keep the old secret working; 0: none."
        ),
    ] = 0,
) -> Shown:
    """Replace the entity's secret: at most 5 times in 24 hours, 5 minutes apart."""
    body: dict[str, object] = {
        "entityId": entity_id,
        "secretExpiryDays": expiry_days,
        "oldSecretValidity": keep_old_days,
    }
    return _shown(await api.post("v1/entity/secret/reset", body), {})


@user_command(
    app,
    "mudra secret retire KAVERI-FIP",
    asks=lambda typed: f"Programs with the old secret of {typed['entity_id']} fail now. End it?",
)
async def retire(api: Api, entity_id: EntityId) -> Shown:
    """End the grace period of the old secret now."""
    done = await api.post("v1/entity/secret/retire", {"entityId": entity_id})
    return facts({"entity": entity_id, "old secret": "ended"}, done)


@user_command(
    app,
    "mudra secret renew KAVERI-FIP --before 14d --out kaveri.secret --exec 'touch kaveri.renewed'",
)
async def renew(
    api: Api,
    entity_id: EntityId,
    out: Annotated[Path, typer.Option(help="File of the secret, which only you can read.")],
    before: Annotated[
        str, typer.Option(help="Reset a secret that expires within this time: 14d, P14D.")
    ] = "14d",
    keep_old_days: Annotated[
        int,
        typer.Option(min=0, max=MAX_GRACE_DAYS, help="Days to keep the old secret working."),
    ] = 1,
    command: Annotated[
        str, typer.Option("--exec", help="Run this once the file has another secret.")
    ] = "",
) -> Shown:
    """Reset the secret if it expires soon, and keep the current one in a file; for cron.

    A file that has the current secret already stays as it is, and the command is not run.
    """
    days = _DAYS.fullmatch(before)
    within = timedelta(days=int(days[1])) if days else read_duration("--before", before)
    secret = await api.post("v1/entity/secret/read", {"entityId": entity_id})
    expires = datetime.fromisoformat(secret["expirationDate"])
    is_due = expires - datetime.fromisoformat(secret["timestamp"]) <= within
    if is_due:
        body = {"entityId": entity_id, "oldSecretValidity": keep_old_days}
        secret = await api.post("v1/entity/secret/reset", body)
    is_new = _written(out, secret["secret"])
    shown = {"entity": entity_id, "reset": is_due, "written": is_new}
    document = {**shown, "expirationDate": secret["expirationDate"]}
    if is_new and command:
        # The owner of the file says what runs when it changes, as in a shell.
        code = subprocess.run(command, shell=True, check=False).returncode  # noqa: ASYNC221, S602  # the caller's own command line
        if code:
            problem = f"--exec ended with {code}: the file has the new secret"
            return replace(facts(shown, document), code=Exit.FAILED, problem=problem)
    return facts(shown, document)


def _written(path: Path, secret: str) -> bool:
    """Write a secret where the file has another one; returns whether it did."""
    content = f"{secret}\n".encode()
    try:
        if path.exists() and path.read_bytes() == content:
            return False
        write_private(path, content)
    except OSError as error:
        raise CommandFailed(f"{path} cannot be written: {error.strerror}") from error
    return True


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
