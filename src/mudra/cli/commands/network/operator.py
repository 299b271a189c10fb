"""mudra operator: accounts of the operator's own people."""

from typing import Annotated

import typer

from mudra.audit.event import Caller
from mudra.cli.local.operator_name import operator_name
from mudra.cli.local.program import Dependencies
from mudra.cli.local.settings import AsJson, DataDir
from mudra.cli.local.store import with_store
from mudra.cli.output.output import Exit, fail, show_facts, show_json, show_table
from mudra.identity.accounts.refusals import NoSuchUser, WrongAccountKind
from mudra.identity.accounts.user import User
from mudra.identity.memberships.member_search import UserFilter, UserRow
from mudra.identity.operators.manage_operators import SaveResult, end_operator, save_operator
from mudra.identity.operators.operator import Scope
from mudra.identity.operators.person_rule import LastOperator
from mudra.identity.single_sign_on.local_sign_in import allow_password as allow_local_password
from mudra.shared.refusal import PlainRefusal, Refusal, ValueRefused

app = typer.Typer(no_args_is_help=True)
_MAX_COUNT = 1000
_LAST = (
    "this is the last active operator with the scope members, which manages operators: "
    "give it to another one first, with mudra operator create"
)


@app.command(
    epilog="Example: mudra operator create noc@network.example --scope health --scope audit"
)
def create(
    email: Annotated[str, typer.Argument(help="The operator's email address.")],
    scope: Annotated[
        list[Scope] | None, typer.Option(help="A scope to grant; repeat for more. All if omitted.")
    ] = None,
    name: Annotated[str, typer.Option(help="The operator's name.")] = "",
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Create an operator and invite it by email; an existing operator gets these scopes."""
    scopes = frozenset(scope or Scope)

    async def run(dependencies: Dependencies) -> SaveResult:
        async with dependencies.unit_of_work() as work:
            return await save_operator(work, email, name, scopes, Caller(operator_name()))

    saved = with_store(run, data_dir)
    match saved:
        case ValueRefused():
            fail(f"{saved.field} {saved.problem}", Exit.USAGE)
        case WrongAccountKind():
            fail(f"{email} is an admin of an entity: an operator needs a separate account")
        case LastOperator():
            fail(_LAST)
    names = sorted(one.value for one in saved.scopes)
    if as_json:
        facts = {"email": saved.user.email, "scopes": names, "invited": saved.invited}
        show_json({**facts, "tokensEnded": saved.tokens_ended})
        return
    show_facts(
        {
            "operator": saved.user.email,
            "scopes": ", ".join(names),
            "invitation": "sent" if saved.invited else "none needed",
            "tokens ended": saved.tokens_ended,
        }
    )


@app.command(epilog="Example: mudra operator allow-password chief@network.example --minutes 30")
def allow_password(
    email: Annotated[str, typer.Argument(help="The operator's email address.")],
    minutes: Annotated[int, typer.Option(min=1, max=1440, help="For how long.")] = 30,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Let an operator sign in with a password for some minutes, where only single sign-on may."""

    async def run(dependencies: Dependencies) -> User | NoSuchUser:
        async with dependencies.unit_of_work() as work:
            return await allow_local_password(work, email, minutes, Caller(operator_name()))

    allowed = with_store(run, data_dir)
    if isinstance(allowed, NoSuchUser):
        fail(f"{email} is not an operator: mudra operator list shows who is")
    if as_json:
        show_json({"email": allowed.email, "minutes": minutes})
        return
    show_facts({"operator": allowed.email, "password": f"accepted for {minutes} minutes"})


@app.command(epilog="Example: mudra operator end noc@network.example")
def end(
    email: Annotated[str, typer.Argument(help="The operator's email address.")],
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Remove all scopes of an operator; it loses its rights at the next request."""

    async def run(
        dependencies: Dependencies,
    ) -> frozenset[Scope] | PlainRefusal | ValueRefused | WrongAccountKind | LastOperator:
        async with dependencies.unit_of_work() as work:
            return await end_operator(work, email, Caller(operator_name()))

    held = with_store(run, data_dir)
    if isinstance(held, LastOperator):
        fail(_LAST)
    if isinstance(held, Refusal):
        fail(f"{email} is not an operator: mudra operator list shows who is")
    names = sorted(scope.value for scope in held)
    if as_json:
        show_json({"email": email, "taken": names})
        return
    show_facts({"operator": email, "taken": ", ".join(names)})


@app.command("list", epilog="Example: mudra operator list --json")
def list_operators(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List the operators and their scopes."""

    async def run(dependencies: Dependencies) -> list[UserRow]:
        async with dependencies.unit_of_work() as work:
            return list(
                await work.member_search.users(UserFilter(operators_only=True), "", _MAX_COUNT)
            )

    rows = with_store(run, data_dir)
    if as_json:
        show_json([{"email": r.email, "state": r.state, "scopes": list(r.scopes)} for r in rows])
        return
    show_table(
        ["OPERATOR", "STATE", "SCOPES"], [[r.email, r.state, ", ".join(r.scopes)] for r in rows]
    )
