"""mudra sandbox fault: let the clients of one entity meet a fault, for a time."""

from typing import Annotated, Final

import httpx2
import typer

from mudra.cli.client.api_client import BaseUrl, read_as, refused, send_json, signed_in
from mudra.cli.client.api_responses import Faults
from mudra.cli.client.tokens_file import SignedIn
from mudra.cli.local.settings import AsJson
from mudra.cli.output.output import fail, show_json, show_table
from mudra.demo.faults.fault import AMOUNTS, DESCRIPTIONS, FaultKind

app = typer.Typer(no_args_is_help=True, help="Faults that the clients of one entity meet.")

EntityId = Annotated[str, typer.Argument(help="The entity's ID.")]
_KINDS: Final = " · ".join(f"{kind}: {effect}" for kind, effect in DESCRIPTIONS.items())
_DEFAULTS: Final = ", ".join(f"{kind} PT{one.default}S" for kind, one in AMOUNTS.items())


@app.callback()
def fault() -> None:
    """Group the commands of faults."""


@app.command("list", epilog="Example: mudra sandbox fault list KAVERI-FIP --json")
def list_faults(
    entity_id: Annotated[
        str, typer.Argument(help="An entity's ID; without it, all that you may see.")
    ] = "",
    base_url: BaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """List the faults in force."""
    entry = signed_in(base_url)
    path = f"?entityId={entity_id}" if entity_id else ""
    _show(_answered("GET", path, None, entry), as_json=as_json)


@app.command(epilog="Example: mudra sandbox fault on KAVERI-FIP slow --by PT5S --lasts PT10M")
def on(
    entity_id: EntityId,
    kind: Annotated[FaultKind, typer.Argument(help=_KINDS)],
    by: Annotated[
        str,
        typer.Option(
            help="How much, an ISO 8601 duration; a clock goes back by --by=-PT10M. "
            f"Defaults: {_DEFAULTS}."
        ),
    ] = "",
    lasts: Annotated[str, typer.Option(help="When it ends by itself, PT1S to P7D.")] = "PT1H",
    base_url: BaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Switch a fault on; the same kind again replaces the one in force."""
    entry = signed_in(base_url)
    body = {"entityId": entity_id, "kind": kind.value, "by": by, "lasts": lasts}
    _show(_answered("POST", "", body, entry), as_json=as_json)


@app.command(epilog="Example: mudra sandbox fault off KAVERI-FIP slow")
def off(
    entity_id: EntityId,
    kind: Annotated[
        FaultKind | None, typer.Argument(help="The kind; without it, all of the entity.")
    ] = None,
    base_url: BaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """End a fault, or all of an entity, before its time; lists what was ended."""
    entry = signed_in(base_url)
    body = {"entityId": entity_id, "kind": kind.value if kind else ""}
    _show(_answered("POST", "/end", body, entry), as_json=as_json)


def _answered(
    method: str, path: str, body: dict[str, str] | None, entry: SignedIn
) -> dict[str, object]:
    root = httpx2.URL(entry.base_url).copy_with(raw_path=b"/sandbox/v1/faults")
    status, members = send_json(method, f"{root}{path}", body, entry)
    if status == httpx2.codes.NOT_FOUND:
        fail(f"{entry.base_url} is no sandbox: faults exist in a sandbox only")
    if not httpx2.codes.is_success(status):
        refused(status, members)
    return members


def _show(answer: dict[str, object], *, as_json: bool) -> None:
    if as_json:
        show_json(answer)
        return
    found = read_as(answer, Faults).faults
    show_table(
        ("entity", "fault", "seconds", "ends"),
        [
            (one.entity_id, one.kind, str(one.seconds) if one.seconds else "", one.ends_at)
            for one in found
        ],
    )
