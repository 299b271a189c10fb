"""mudra keys: the signing keys of the service."""

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from mudra.audit.event import Caller, EventName
from mudra.cli.local.operator_name import operator_name
from mudra.cli.local.program import Dependencies
from mudra.cli.local.settings import AsJson, DataDir
from mudra.cli.local.store import with_store
from mudra.cli.output.output import Exit, fail, show_json, show_table
from mudra.overview.administration import Rewrapped
from mudra.shared.time_text import iso_ms
from mudra.tokens.issuing.claims import TokenKind
from mudra.tokens.signing_keys.signing_key_service import (
    KEY_CHANGE_S,
    KeyChange,
    KeyDetails,
    UnknownKey,
)

app = typer.Typer(no_args_is_help=True)

_EVENT_TEXTS = {
    EventName.KEYS_SIGNING_CREATE: "created and published",
    EventName.KEYS_SIGNING_ACTIVATE: "signs from",
    EventName.KEYS_SIGNING_RETIRE: "stops signing at",
    EventName.KEYS_SIGNING_DROP: "dropped at",
    EventName.KEYS_SIGNING_DESTROY: "private part destroyed",
}


@app.command("list", epilog="Example: mudra keys list --json")
def list_keys(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List the signing keys and their states; as JSON, also who fetched each key."""

    async def handle(dependencies: Dependencies) -> Sequence[KeyDetails]:
        async with dependencies.unit_of_work() as work:
            return await work.signing_keys.list(await work.people.now())

    rows = [_fields(one) for one in with_store(handle, data_dir)]
    if as_json:
        show_json(rows)
        return
    names = ("kid", "kind", "state", "createdAt", "activeFrom", "retiresAt")
    show_table(
        ["KID", "FOR", "STATE", "PUBLISHED", "SIGNS FROM", "STOPS AT"],
        [[str(row[name]) for name in names] for row in rows],
    )


def _fields(details: KeyDetails) -> dict[str, object]:
    """Return a key as /operator/v1/keys shows it."""
    key = details.key
    return {
        "kid": key.kid,
        "kind": key.kind.value,
        "createdAt": iso_ms(key.created_at),
        "activeFrom": iso_ms(key.active_from) if key.active_from else "",
        "retiresAt": iso_ms(key.retires_at) if key.retires_at else "",
        "state": details.state.value,
        "fetches": [
            {
                "entityId": one.entity_id,
                "count": one.count,
                "firstAt": iso_ms(one.first_at),
                "lastAt": iso_ms(one.last_at),
            }
            for one in details.fetches
        ],
    }


@app.command(
    epilog="Example: mudra keys rotate --kind entity · mudra keys rotate --emergency --key KID"
)
def rotate(
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
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
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
    kinds = frozenset([kind] if kind else TokenKind)

    async def handle(dependencies: Dependencies) -> Sequence[KeyChange] | UnknownKey:
        caller = Caller(operator_name())
        async with dependencies.unit_of_work(within_s=KEY_CHANGE_S) as work:
            now = await work.people.now()
            if key:
                return await work.signing_keys.drop_key(key, kinds, caller, now)
            if every:
                return await work.signing_keys.drop_all(kinds, caller, now, again=again)
            return await work.signing_keys.rotate(kinds, caller, now, emergency=emergency)

    changes = with_store(handle, data_dir)
    if isinstance(changes, UnknownKey):
        fail(f"no signing key of this kind has the KID {key}: see mudra keys list")
    kept = kinds - {one.kind for one in changes} if every else frozenset[TokenKind]()
    _show_changes(changes, as_json=as_json, dropped=key, kept=kept)


def _show_changes(
    changes: Sequence[KeyChange], *, as_json: bool, dropped: str, kept: frozenset[TokenKind]
) -> None:
    rows = [
        {"kid": c.kid, "kind": c.kind.value, "what": _EVENT_TEXTS[c.event], "at": iso_ms(c.at)}
        for c in changes
    ]
    for kind in sorted(kept):
        typer.echo(
            f"Every key for {kind.value} tokens was dropped minutes ago, and the new ones are "
            "kept. To drop them too, add --again.",
            err=as_json,
        )
    if as_json:
        show_json(rows)
    elif rows:
        show_table(["KID", "FOR", "WHAT", "AT"], [list(row.values()) for row in rows])
    elif kept:
        return
    elif dropped:
        typer.echo(f"{dropped} was dropped already: nothing to do. See mudra keys list.")
    else:
        typer.echo("A rotation is already in progress: nothing to do. See mudra keys list.")


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

        done = with_store(handle, data_dir)
    if as_json:
        show_json({"version": done.version, "count": done.count})
    else:
        typer.echo(f"{done.count} values rewrapped; all are under master key {done.version} now.")
