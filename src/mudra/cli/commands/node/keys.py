"""mudra keys: the signing keys of the service."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress

from mudra.audit.event import Caller, EventName
from mudra.cli.client.api import Api
from mudra.cli.command import owner_command
from mudra.cli.local.operator_name import operator_name
from mudra.cli.local.program import Dependencies, program
from mudra.cli.local.settings import AsJson, DataDir
from mudra.cli.output.output import Exit, fail, show_json, show_table
from mudra.cli.output.shown import Shown, table
from mudra.overview.administration import Rewrapped
from mudra.tokens.claims import TokenKind

app = typer.Typer(no_args_is_help=True)

_PATH = "/operator/v1/keys"
_KEPT = (
    "Every key for {} tokens was dropped minutes ago, and the new ones are "
    "kept. To drop them too, add --again."
)
_EVENT_TEXTS = {
    EventName.KEYS_SIGNING_CREATE: "created and published",
    EventName.KEYS_SIGNING_ACTIVATE: "signs from",
    EventName.KEYS_SIGNING_RETIRE: "stops signing at",
    EventName.KEYS_SIGNING_DROP: "dropped at",
    EventName.KEYS_SIGNING_DESTROY: "private part destroyed",
}


@owner_command(app, "mudra keys list --json", "list")
async def list_keys(api: Api) -> Shown:
    """List the signing keys and their states; as JSON, also who fetched each key."""
    keys = (await api.get(_PATH))["keys"]
    names = ("kid", "kind", "state", "createdAt", "activeFrom", "retiresAt")
    return table(
        ["KID", "FOR", "STATE", "PUBLISHED", "SIGNS FROM", "STOPS AT"],
        [[one[name] for name in names] for one in keys],
        keys,
    )


def _question(typed: Mapping[str, Any]) -> str:
    if not typed["emergency"]:
        return ""
    key = "every key" if typed["every"] else typed["key"] or "the key that signs now"
    return f"All tokens of {key} end now. Drop it?"


@owner_command(
    app,
    "mudra keys rotate --kind entity · mudra keys rotate --emergency --key KID",
    asks=_question,
)
async def rotate(
    api: Api,
    kind: Annotated[
        TokenKind | None, typer.Option(help="Rotate for this kind of token only.")
    ] = None,
    emergency: Annotated[
        bool,
        typer.Option(help="The key has leaked: drop it now, and every token that it signed."),
    ] = False,
    key: Annotated[
        str, typer.Option(help="In an emergency: the key to drop, by its KID, whatever its state.")
    ] = "",
    every: Annotated[
        bool,
        typer.Option(
            "--all", help="In an emergency: drop every key, as when the master key has leaked."
        ),
    ] = False,
    again: Annotated[
        bool,
        typer.Option(help="With --all: drop also keys that one of the last ten minutes made."),
    ] = False,
) -> Shown:
    """Let the next key sign, as soon as it has been published for an hour.

    Tokens signed by the current key stay valid until they expire. With --emergency
    the key is dropped immediately and its tokens end: the one that signs now, or that of --key.
    A second run with the same --key changes nothing, nor does one with --all within ten minutes.
    """
    if (key or every) and not emergency:
        fail("--key and --all need --emergency", Exit.USAGE)
    if key and every:
        fail("--all drops every key: leave --key out", Exit.USAGE)
    if again and not every:
        fail("--again needs --all", Exit.USAGE)
    body = {"kind": kind.value if kind else "", "emergency": emergency}
    sent = {**body, "kid": key, "all": every, "again": again}
    changes = (await api.post(f"{_PATH}/rotate", sent))["changes"]
    rows = [{**one, "what": _EVENT_TEXTS[one.pop("event")], "at": one.pop("at")} for one in changes]
    kinds = {kind} if kind else {*TokenKind}
    kept = sorted(kinds - {one["kind"] for one in changes}) if every else []

    def show() -> None:
        if rows:
            show_table(["KID", "FOR", "WHAT", "AT"], [[*row.values()] for row in rows])
        elif key:
            typer.echo(f"{key} was dropped already: nothing to do. See mudra keys list.")
        elif not kept:
            typer.echo("A rotation is already in progress: nothing to do. See mudra keys list.")

    return Shown(rows, show, notes=[_KEPT.format(one) for one in kept])


@app.command(epilog="Example: mudra keys rewrap")
def rewrap(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Bring every encrypted value under the active master key, while the service runs.

    It may be cut off and run again. Afterwards old versions of the master key can be removed.
    """
    with Progress(console=Console(stderr=True), disable=as_json, transient=True) as progress:
        task = progress.add_task("rewrapping", total=None)

        async def handle(dependencies: Dependencies) -> Rewrapped:
            return await dependencies.rewrap(
                Caller(operator_name()),
                lambda total: progress.update(task, total=total),
                lambda more: progress.advance(task, more),
            )

        done = program().in_store(handle, data_dir)
    if as_json:
        show_json({"version": done.version, "count": done.count})
    else:
        typer.echo(f"{done.count} values rewrapped; all are under master key {done.version} now.")
