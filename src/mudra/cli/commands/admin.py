"""mudra admin: who looks after an entity, and the accounts of those people."""

from collections.abc import Awaitable, Callable
from typing import Annotated

import msgspec
import typer

from mudra.audit.event import Caller
from mudra.cli.local.operator_name import operator_name
from mudra.cli.local.program import Dependencies
from mudra.cli.local.settings import AsJson, DataDir
from mudra.cli.local.store import with_rooms
from mudra.cli.local.user import user_of
from mudra.cli.output.output import fail, show_facts, show_json
from mudra.cli.output.token_text import show_tokens
from mudra.http.account.people_responses import warnings_of
from mudra.http.account.people_shapes import token_details
from mudra.http.response.errors import problem_of
from mudra.identity.accounts.account_service import AccountChanged, NoSuchUser
from mudra.identity.accounts.user import User
from mudra.identity.memberships.admins import AdminsChanged
from mudra.unit_of_work import UnitOfWork

app = typer.Typer(no_args_is_help=True, help="Admins of entities, and their accounts.")

EntityId = Annotated[str, typer.Argument(help="The entity's ID.")]
Email = Annotated[str, typer.Argument(help="The admin's e-mail address.")]
Name = Annotated[str, typer.Option(help="The admin's name.")]


@app.command(epilog="Example: mudra admin add KAVERI-FIP ravi@kaveribank.example")
def add(
    entity_id: EntityId,
    email: Email,
    name: Name = "",
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Make somebody an admin of an entity; who has no account yet is invited by mail."""
    _run(lambda work, by: work.admins.add(entity_id, email, name, by), data_dir, as_json=as_json)


@app.command(epilog="Example: mudra admin remove KAVERI-FIP lakshmi@kaveribank.example")
def remove(
    entity_id: EntityId, email: Email, data_dir: DataDir = None, as_json: AsJson = False
) -> None:
    """End somebody's rights on an entity at once; warns when nobody is left who can act."""
    _run(
        lambda work, by: work.admins.remove(entity_id, email, by, may_leave_none=True),
        data_dir,
        as_json=as_json,
    )


@app.command(
    epilog="Example: mudra admin handover KAVERI-FIP lakshmi@kaveribank.example "
    "ravi@kaveribank.example"
)
def handover(
    entity_id: EntityId,
    leaving: Annotated[str, typer.Argument(help="Address of the admin who leaves.")],
    email: Annotated[str, typer.Argument(help="Address of the successor.")],
    name: Name = "",
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Put one admin in the place of another."""
    _run(
        lambda work, by: work.admins.hand_over(entity_id, leaving, email, name, by),
        data_dir,
        as_json=as_json,
    )


@app.command(epilog="Example: mudra admin disable lakshmi@kaveribank.example")
def disable(email: Email, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Switch a person's account off; its tokens end."""
    _run(_of(email, lambda w, user, by: w.accounts.disable(user, by)), data_dir, as_json=as_json)


@app.command(epilog="Example: mudra admin enable lakshmi@kaveribank.example")
def enable(email: Email, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Switch a person's account on again."""
    _run(_of(email, lambda w, user, by: w.accounts.enable(user, by)), data_dir, as_json=as_json)


@app.command(epilog="Example: mudra admin invite lakshmi@kaveribank.example")
def invite(email: Email, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Send a new link: invitation, or for an active user one to set a new password."""
    _run(
        _of(email, lambda w, user, by: w.accounts.invite_again(user, by)),
        data_dir,
        as_json=as_json,
    )


@app.command(epilog="Example: mudra admin tokens lakshmi@kaveribank.example --json")
def tokens(email: Email, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List a person's User Access Tokens with the last use of each; never their text."""

    async def run(dependencies: Dependencies) -> object:
        async with dependencies.unit_of_work() as work:
            user = await user_of(work, email)
            return (
                NoSuchUser() if user is None else list(await work.memberships.tokens(user.user_id))
            )

    held = with_rooms(run, data_dir)
    if not isinstance(held, list):
        fail(problem_of(held).sentence)
    show_tokens([msgspec.to_builtins(token_details(token)) for token in held], as_json=as_json)


@app.command(epilog="Example: mudra admin revoke lakshmi@kaveribank.example")
def revoke(
    email: Email,
    token_id: Annotated[
        str, typer.Option(help="Only this token, as mudra admin tokens shows it.")
    ] = "",
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """End a person's tokens at once, all or one; the password stays."""
    _run(
        _of(email, lambda w, user, by: w.accounts.end_tokens(user, token_id, by)),
        data_dir,
        as_json=as_json,
    )


@app.command(epilog="Example: mudra admin contact KAVERI-FIP it-desk@kaveribank.example")
def contact(
    entity_id: EntityId,
    email: Annotated[str, typer.Argument(help="The address; '' ends it.")],
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Set the backup contact of an entity, who gets the letters too."""
    _run(lambda work, by: work.admins.set_contact(entity_id, email, by), data_dir, as_json=as_json)


def _of(
    email: str, act: Callable[[UnitOfWork, str, Caller], Awaitable[object]]
) -> Callable[[UnitOfWork, Caller], Awaitable[object]]:
    async def found(work: UnitOfWork, by: Caller) -> object:
        user = await user_of(work, email)
        return NoSuchUser() if user is None else await act(work, user.user_id, by)

    return found


def _run(
    act: Callable[[UnitOfWork, Caller], Awaitable[object]], data_dir: DataDir, *, as_json: bool
) -> None:
    async def run(dependencies: Dependencies) -> object:
        async with dependencies.unit_of_work() as work:
            return await act(work, Caller(operator_name()))

    facts = _facts(with_rooms(run, data_dir))
    if as_json:
        show_json(facts)
        return
    warnings = facts.pop("warnings", [])
    show_facts(facts)
    assert isinstance(warnings, list)
    for sentence in warnings:
        typer.echo(f"warning: {sentence}", err=True)


def _facts(outcome: object) -> dict[str, object]:
    if isinstance(outcome, AdminsChanged):
        done = "done" if outcome.changed else "unchanged"
        return {
            "entity": outcome.entity_id,
            "admin": outcome.user.email,
            "result": done,
            "admins who can act": outcome.left,
            "warnings": warnings_of(outcome),
        }
    if isinstance(outcome, AccountChanged):
        return {
            "account": outcome.user.email,
            "state": outcome.user.state.value,
            "tokens ended": outcome.tokens_ended,
            "warnings": warnings_of(outcome),
        }
    if isinstance(outcome, User):
        return {"account": outcome.email, "result": "link sent"}
    if isinstance(outcome, int):
        return {"tokens ended": outcome}
    if not isinstance(outcome, str):
        fail(problem_of(outcome).sentence)
    return {"contact": outcome or "none"}
