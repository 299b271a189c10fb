"""mudra operator: accounts of the operator's own people."""

from typing import Annotated

import typer

from mudra.audit.event import Caller
from mudra.cli.local.operator_name import operator_name
from mudra.cli.local.program import Dependencies
from mudra.cli.local.settings import AsJson, DataDir
from mudra.cli.local.store import with_rooms
from mudra.cli.local.user import user_of
from mudra.cli.output.output import Exit, fail, show_facts, show_json, show_table
from mudra.identity.accounts.account_service import OperatorMade
from mudra.identity.memberships.admins import ValueRefused, WrongAccountKind
from mudra.identity.memberships.member_search import UserFilter, UserRow
from mudra.identity.operators.operator import Scope

app = typer.Typer(no_args_is_help=True, help="People who operate the network.")
_MAX_COUNT = 1000


@app.command(
    epilog="Example: mudra operator create noc@network.example --scope health --scope audit"
)
def create(
    email: Annotated[str, typer.Argument(help="The operator's e-mail address.")],
    scope: Annotated[
        list[Scope] | None, typer.Option(help="What it may do; again for more. All when left out.")
    ] = None,
    name: Annotated[str, typer.Option(help="The operator's name.")] = "",
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Make an operator and invite it by mail; for one that exists, set its scopes anew."""
    scopes = frozenset(scope or Scope)

    async def act(dependencies: Dependencies) -> object:
        async with dependencies.unit_of_work() as work:
            return await work.accounts.make_operator(email, name, scopes, Caller(operator_name()))

    made = with_rooms(act, data_dir)
    if isinstance(made, ValueRefused):
        fail(f"{made.field} {made.problem}", Exit.USAGE)
    if isinstance(made, WrongAccountKind):
        fail(f"{email} is an admin of an entity: an operator needs an account of its own")
    assert isinstance(made, OperatorMade)
    words = sorted(one.value for one in made.scopes)
    if as_json:
        show_json({"email": made.user.email, "scopes": words, "invited": made.invited})
        return
    invitation = "sent" if made.invited else "none needed"
    show_facts({"operator": made.user.email, "scopes": ", ".join(words), "invitation": invitation})


@app.command(epilog="Example: mudra operator end noc@network.example")
def end(
    email: Annotated[str, typer.Argument(help="The operator's e-mail address.")],
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Take all scopes from an operator: the role ends at the next request, the account stays."""

    async def act(dependencies: Dependencies) -> object:
        async with dependencies.unit_of_work() as work:
            user = await user_of(work, email)
            held = await work.memberships.scopes(user.user_id) if user else frozenset()
            if user is None or not held:
                return None
            await work.accounts.make_operator(
                user.email, user.name, frozenset(), Caller(operator_name())
            )
            return held

    held = with_rooms(act, data_dir)
    if not isinstance(held, frozenset):
        fail(f"{email} is no operator: mudra operator list shows who is")
    words = sorted(scope.value for scope in held)
    if as_json:
        show_json({"email": email, "taken": words})
        return
    show_facts({"operator": email, "taken": ", ".join(words)})


@app.command("list", epilog="Example: mudra operator list --json")
def list_operators(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List the operators and their scopes."""

    async def act(dependencies: Dependencies) -> list[UserRow]:
        async with dependencies.unit_of_work() as work:
            return list(
                await work.member_search.users(UserFilter(operators_only=True), "", _MAX_COUNT)
            )

    rows = with_rooms(act, data_dir)
    if as_json:
        show_json([{"email": r.email, "state": r.state, "scopes": list(r.scopes)} for r in rows])
        return
    show_table(
        ["OPERATOR", "STATE", "SCOPES"], [[r.email, r.state, ", ".join(r.scopes)] for r in rows]
    )
