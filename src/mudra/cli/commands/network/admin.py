"""mudra admin: the admins of entities, and their accounts."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, TypeAlias, assert_never

import typer

from mudra.audit.event import Caller
from mudra.cli.local.operator_name import operator_name
from mudra.cli.local.program import Dependencies
from mudra.cli.local.settings import AsJson, DataDir
from mudra.cli.local.store import with_store
from mudra.cli.output.output import fail, show_facts, show_json
from mudra.cli.output.token_text import show_tokens
from mudra.http.response.account_responses import token_details, warnings_about
from mudra.identity.accounts.email_address import AddressRefused, normalize_email
from mudra.identity.accounts.manage_accounts import (
    AccountChanged,
    disable_account,
    enable_account,
    end_tokens,
    invite_again,
)
from mudra.identity.accounts.refusals import NoSuchUser
from mudra.identity.accounts.user import HeldToken, User
from mudra.identity.memberships.admins import (
    AdminsChanged,
    EntityAdmins,
    add_admin,
    remove_admin,
    requested_by,
)
from mudra.identity.memberships.contact import set_contact
from mudra.identity.memberships.hand_over import hand_over
from mudra.identity.memberships.invitation import Invitee
from mudra.identity.memberships.member import Contact
from mudra.identity.operators.person_rule import ActingOperator, owner
from mudra.identity.second_factor.reset_factor import reset_factor
from mudra.shared.refusal import Refusal
from mudra.unit_of_work import UnitOfWork

app = typer.Typer(no_args_is_help=True)

EntityId = Annotated[str, typer.Argument(help="The entity's ID.")]
Email = Annotated[str, typer.Argument(help="The admin's email address.")]
Name = Annotated[str, typer.Option(help="The admin's name.")]


@app.command(epilog="Example: mudra admin add KAVERI-FIP ravi@kaveribank.example")
def add(
    entity_id: EntityId,
    email: Email,
    name: Name = "",
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Make someone an admin of an entity; a person without an account is invited by email."""
    _run(
        lambda work, by: add_admin(work, requested_by(by), entity_id, Invitee(email, name)),
        data_dir,
        as_json=as_json,
    )


@app.command(epilog="Example: mudra admin remove KAVERI-FIP lakshmi@kaveribank.example")
def remove(
    entity_id: EntityId, email: Email, data_dir: DataDir = None, as_json: AsJson = False
) -> None:
    """Remove an admin of an entity immediately; warns if no admin who can act is left."""
    _run(
        lambda work, by: remove_admin(work, requested_by(by), entity_id, email),
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
    """Replace an admin with another person."""
    _run(
        lambda work, by: hand_over(work, requested_by(by), entity_id, leaving, email, name),
        data_dir,
        as_json=as_json,
    )


@app.command(epilog="Example: mudra admin disable lakshmi@kaveribank.example")
def disable(email: Email, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Disable a person's account; its tokens end."""
    _run(_of(email, disable_account), data_dir, as_json=as_json)


@app.command(epilog="Example: mudra admin enable lakshmi@kaveribank.example")
def enable(email: Email, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Enable a person's account again."""
    _run(_of(email, enable_account), data_dir, as_json=as_json)


@app.command(epilog="Example: mudra admin invite lakshmi@kaveribank.example")
def invite(email: Email, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Send a new link: invitation, or for an active user one to set a new password."""
    _run(_of(email, invite_again), data_dir, as_json=as_json)


@app.command(epilog="Example: mudra admin tokens lakshmi@kaveribank.example --json")
def tokens(email: Email, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List a person's User Access Tokens with the last use of each; never their text."""

    async def run(dependencies: Dependencies) -> Sequence[HeldToken] | NoSuchUser:
        async with dependencies.unit_of_work() as work:
            user = await _user_of(work, email)
            return NoSuchUser() if user is None else await work.memberships.tokens(user.user_id)

    held = with_store(run, data_dir)
    if isinstance(held, Refusal):
        fail(held.sentence)
    show_tokens([token_details(token) for token in held], as_json=as_json)


@app.command(epilog="Example: mudra admin revoke lakshmi@kaveribank.example")
def revoke(
    email: Email,
    token_id: Annotated[
        str, typer.Option(help="Only this token, as mudra admin tokens shows it.")
    ] = "",
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """End a person's tokens immediately, all or one; the password stays."""
    _run(
        _of(email, lambda work, by, user: end_tokens(work, by, user, token_id)),
        data_dir,
        as_json=as_json,
    )


@app.command("reset-factor", epilog="Example: mudra admin reset-factor lakshmi@kaveribank.example")
def reset_factor_of(email: Email, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Remove a person's lost second factor; tokens and sessions end, and the person is notified."""
    _run(_of(email, reset_factor), data_dir, as_json=as_json)


@app.command(epilog="Example: mudra admin contact KAVERI-FIP it-desk@kaveribank.example")
def contact(
    entity_id: EntityId,
    email: Annotated[str, typer.Argument(help="The address; '' removes it.")],
    phone: Annotated[str, typer.Option(help="Telephone that is answered day and night.")] = "",
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Set the backup contact of an entity: its address gets the same emails."""
    _run(
        lambda work, by: set_contact(work, requested_by(by), entity_id, Contact(email, phone)),
        data_dir,
        as_json=as_json,
    )


_Outcome: TypeAlias = EntityAdmins | AccountChanged | User | int | Refusal


def _of(
    email: str, use_case: Callable[[UnitOfWork, ActingOperator, str], Awaitable[_Outcome]]
) -> Callable[[UnitOfWork, ActingOperator], Awaitable[_Outcome]]:
    async def found(work: UnitOfWork, by: ActingOperator) -> _Outcome:
        user = await _user_of(work, email)
        return NoSuchUser() if user is None else await use_case(work, by, user.user_id)

    return found


def _run(
    use_case: Callable[[UnitOfWork, ActingOperator], Awaitable[_Outcome]],
    data_dir: DataDir,
    *,
    as_json: bool,
) -> None:
    async def run(dependencies: Dependencies) -> _Outcome:
        async with dependencies.unit_of_work() as work:
            return await use_case(work, owner(Caller(operator_name())))

    facts, warnings = _facts(with_store(run, data_dir))
    if as_json:
        show_json(facts | ({} if warnings is None else {"warnings": warnings}))
        return
    show_facts(facts)
    for sentence in warnings or ():
        typer.echo(f"warning: {sentence}", err=True)


def _facts(outcome: _Outcome) -> tuple[dict[str, object], list[str] | None]:
    """Return what to show of an outcome, and the warnings of those that can have any."""
    if isinstance(outcome, Refusal):
        fail(outcome.sentence)
    match outcome:
        case AdminsChanged():
            return {
                "entity": outcome.entity_id,
                "admin": outcome.email,
                "result": "done" if outcome.changed else "unchanged",
                "admins who can act": outcome.able,
            }, warnings_about([] if outcome.able else [outcome.entity_id])
        case EntityAdmins():
            return {
                "contact": outcome.contact.email or "none",
                "phone": outcome.contact.phone or "none",
            }, None
        case AccountChanged():
            return {
                "account": outcome.user.email,
                "state": outcome.user.state.value,
                "tokens ended": outcome.tokens_ended,
            }, warnings_about(outcome.without_admin)
        case User():
            return {"account": outcome.email, "result": "link sent"}, None
        case int():
            return {"tokens ended": outcome}, None
        case _:
            assert_never(outcome)


async def _user_of(work: UnitOfWork, email: str) -> User | None:
    """Find the user, however the address is typed; None when there is none."""
    address = normalize_email(email)
    return None if isinstance(address, AddressRefused) else await work.people.by_username(address)
