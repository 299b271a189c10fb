"""mudra keys: the signing keys of the service."""

from typing import Annotated

import typer

from mudra.audit.event import Caller, EventName
from mudra.cli.local.operator_name import operator_name
from mudra.cli.local.program import Dependencies
from mudra.cli.local.settings import AsJson, DataDir
from mudra.cli.local.store import with_rooms
from mudra.cli.output.output import show_json, show_table
from mudra.http.operator.keys import fetches_of, key_fields
from mudra.jobs.key_rotation import rotate_keys
from mudra.shared.time_text import iso_ms
from mudra.tokens.issuing.claims import TokenKind
from mudra.tokens.signing_keys.rotate_keys import KeyChange

app = typer.Typer(no_args_is_help=True, help="Signing keys of the service.")

_WORDS = {
    EventName.KEYS_SIGNING_CREATE: "made and published",
    EventName.KEYS_SIGNING_ACTIVATE: "signs from",
    EventName.KEYS_SIGNING_RETIRE: "stops signing at",
    EventName.KEYS_SIGNING_DROP: "dropped at",
    EventName.KEYS_SIGNING_DESTROY: "private part destroyed",
}


@app.command("list", epilog="Example: mudra keys list --json")
def list_keys(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List the signing keys and where each stands in its life; as JSON, who fetched each, too."""

    async def act(dependencies: Dependencies) -> list[dict[str, object]]:
        async with dependencies.unit_of_work() as work:
            keys, now = await work.keys.all_keys(), await work.people.now()
            fetches = await work.key_fetches.fetches()
        return [
            key_fields(key) | {"state": key.state(now).value, "fetches": fetches_of(key, fetches)}
            for key in keys
        ]

    rows = with_rooms(act, data_dir)
    if as_json:
        show_json(rows)
        return
    show_table(
        ["KID", "FOR", "STATE", "PUBLISHED", "SIGNS FROM", "STOPS AT"],
        [
            [str(r[n]) for n in ("kid", "kind", "state", "createdAt", "activeFrom", "retiresAt")]
            for r in rows
        ],
    )


@app.command(epilog="Example: mudra keys rotate --kind entity")
def rotate(
    kind: Annotated[
        TokenKind | None, typer.Option(help="Rotate for this kind of token only.")
    ] = None,
    emergency: Annotated[
        bool,
        typer.Option(help="The key has leaked: drop it now, and every token that it signed."),
    ] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Let the next key sign, as soon as it has been published for an hour.

    Tokens of the former key stay valid to their end. With --emergency the key
    goes at once and its tokens with it.
    """
    kinds = frozenset([kind] if kind else TokenKind)

    async def act(dependencies: Dependencies) -> list[KeyChange]:
        return await rotate_keys(dependencies, kinds, Caller(operator_name()), emergency=emergency)

    changes = with_rooms(act, data_dir)
    rows = [
        {"kid": c.kid, "kind": c.kind.value, "what": _WORDS[c.event], "at": iso_ms(c.at)}
        for c in changes
    ]
    if as_json:
        show_json(rows)
    elif rows:
        show_table(["KID", "FOR", "WHAT", "AT"], [list(row.values()) for row in rows])
    else:
        typer.echo("A rotation is under way already: nothing to do. See mudra keys list.")
