"""mudra operator: accounts of the operator's own people."""

from typing import Annotated

import typer

from mudra.audit.event import Caller
from mudra.cli.client.api import Api
from mudra.cli.command import owner_command, store_command
from mudra.cli.local.operator_name import operator_name
from mudra.cli.local.program import CommandFailed, Dependencies
from mudra.cli.output.shown import Shown, facts, table
from mudra.identity.accounts.email_address import normalize_email
from mudra.identity.operators.operator import Scope
from mudra.shared.refusal import Refusal

app = typer.Typer(no_args_is_help=True)
_NO_OPERATOR = "{} is not an operator: mudra operator list shows who is"
_LISTED = ("email", "state", "scopes", "signedInAt", "secondFactors")
_FIELDS = {"email": "email", "name": "name"}


@owner_command(app, "mudra operator create noc@network.example --scope health --scope audit")
async def create(
    api: Api,
    email: Annotated[str, typer.Argument(help="The operator's email address.")],
    scope: Annotated[
        list[Scope] | None,
        typer.Option(
            help="A scope to grant; repeat for more. Omitted, a new operator gets all, and an "
            "existing one keeps its own."
        ),
    ] = None,
    name: Annotated[str, typer.Option(help="The operator's name.")] = "",
) -> Shown:
    """Create an operator and invite it by email; an existing one gets the scopes that are named."""
    body = {"email": email, "name": name, "scopes": sorted(scope or await _held(api, email))}
    saved = await api.post("/operator/v1/operators", body, _FIELDS)
    document = {name: saved[name] for name in ("email", "scopes", "invited", "tokensEnded")}
    return facts(
        {
            "operator": saved["email"],
            "scopes": ", ".join(saved["scopes"]),
            "invitation": "sent" if saved["invited"] else "none needed",
            "tokens ended": saved["tokensEnded"],
        },
        document,
    )


async def _held(api: Api, email: str) -> list[Scope]:
    """Return the scopes that an operator has, all for one who has none."""
    found = await api.pages("/operator/v1/users", "users", {"operators": "true"})
    address = normalize_email(email)
    own = (one["scopes"] for one in found if one["email"] == address)
    return [Scope(each) for each in next(own, [])] or list(Scope)


@store_command(app, "mudra operator allow-password chief@network.example --minutes 30")
async def allow_password(
    dependencies: Dependencies,
    email: Annotated[str, typer.Argument(help="The operator's email address.")],
    minutes: Annotated[int, typer.Option(min=1, max=1440, help="For how long.")] = 30,
) -> Shown:
    """Let an operator sign in with a password for some minutes, where only single sign-on may."""
    from mudra.identity.single_sign_on.local_sign_in import (  # noqa: PLC0415  # loads the database
        allow_password as allow_local_password,
    )

    async with dependencies.transaction() as tx:
        allowed = await allow_local_password(tx, email, minutes, Caller(operator_name()))
    if isinstance(allowed, Refusal):
        raise CommandFailed(_NO_OPERATOR.format(email))
    return facts(
        {"operator": allowed.email, "password": f"accepted for {minutes} minutes"},
        {"email": allowed.email, "minutes": minutes},
    )


@owner_command(app, "mudra operator end noc@network.example")
async def end(
    api: Api, email: Annotated[str, typer.Argument(help="The operator's email address.")]
) -> Shown:
    """Remove all scopes of an operator; it loses its rights at the next request."""
    address = email.strip().casefold()
    operators = await api.pages("/operator/v1/users", "users", {"operators": "true"})
    held = next((one for one in operators if one["email"].casefold() == address), None)
    if held is None:
        raise CommandFailed(_NO_OPERATOR.format(email))
    await api.post("/operator/v1/operators", {"email": held["email"], "scopes": []})
    taken = sorted(held["scopes"])
    return facts({"operator": email, "taken": ", ".join(taken)}, {"email": email, "taken": taken})


@owner_command(app, "mudra operator list --json", "list")
async def list_operators(api: Api) -> Shown:
    """List the operators with their scopes, last sign-in and second factor."""
    found = await api.pages("/operator/v1/users", "users", {"operators": "true"})
    rows = [{name: one[name] for name in _LISTED} for one in found]
    return table(
        ["OPERATOR", "STATE", "SCOPES", "LAST SIGN-IN", "SECOND FACTOR"],
        [
            [
                *(one["email"], one["state"], ", ".join(one["scopes"])),
                *(one["signedInAt"] or "never", ", ".join(one["secondFactors"]) or "none"),
            ]
            for one in found
        ],
        rows,
    )
