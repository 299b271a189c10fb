"""A fault at every statement of an act leaves nothing of it, and the act can be done again (F7, L3)."""

import contextlib
import itertools
import uuid
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass

import psycopg
import pytest
import sqlalchemy as sa
from sqlalchemy import event
from tests.support.service import Member, Service

from mudra.audit.event import Caller
from mudra.bootstrap.dependencies import Dependencies
from mudra.identity.accounts.manage_accounts import disable_account, enable_account
from mudra.identity.memberships.admins import Requester, add_admin, set_contact
from mudra.identity.memberships.member import Contact
from mudra.identity.memberships.onboard import NewMember, onboard_member
from mudra.identity.operators.manage_operators import save_operator
from mudra.identity.operators.operator import Scope
from mudra.identity.operators.person_rule import owner
from mudra.identity.second_factor.check_code import check_code
from mudra.identity.second_factor.reset_factor import reset_factor
from mudra.shared.refusal import Refusal
from mudra.shared.secret_text import SecretText
from mudra.shared.unavailable import ServiceUnavailable
from mudra.storage.database.tables import metadata
from mudra.tokens.secrets.secret_service import ResetCommand
from mudra.unit_of_work import UnitOfWork

MOST = 200


@dataclass
class About:
    """Whom an act is about, and the caller whose audit rows are its own."""

    entity_id: str
    email: str
    user_id: str
    caller: Caller


Act = Callable[[UnitOfWork, About], Awaitable[object]]


async def reset(work: UnitOfWork, about: About) -> object:
    user = await work.people.by_id(about.user_id)
    assert user is not None
    return await work.secret_service.reset(ResetCommand(about.entity_id, 90, 7), user, about.caller)


async def wrong_code(work: UnitOfWork, about: About) -> object:
    user = await work.people.by_id(about.user_id)
    assert user is not None
    return await check_code(work, user, SecretText("000000"), about.caller)


async def reset_of_a_factor(work: UnitOfWork, about: About) -> object:
    await work.second_factors.begin_totp(about.user_id, SecretText("A" * 32))
    await work.second_factors.confirm_totp(about.user_id, 1)
    return await reset_factor(work, owner(about.caller), about.user_id)


async def disable_and_enable(work: UnitOfWork, about: About) -> object:
    await disable_account(work, owner(about.caller), about.user_id)
    return await enable_account(work, owner(about.caller), about.user_id)


async def onboard(work: UnitOfWork, about: About) -> object:
    new = NewMember(f"{about.entity_id}-2", "FIU", "Second", f"two-{about.email}", "Ravi")
    return await onboard_member(work, new, about.caller)


async def new_operator(work: UnitOfWork, about: About) -> object:
    return await save_operator(
        work, f"op-{about.email}", "", frozenset({Scope.HEALTH}), about.caller
    )


async def new_admin(work: UnitOfWork, about: About) -> object:
    requester = Requester(about.caller)
    return await add_admin(work, requester, about.entity_id, f"ad-{about.email}", "Ravi")


async def contact(work: UnitOfWork, about: About) -> object:
    requester = Requester(about.caller)
    return await set_contact(work, requester, about.entity_id, Contact(f"it-{about.email}"))


ACTS: dict[str, Act] = {
    act.__name__: act
    for act in (
        *(reset, wrong_code, reset_of_a_factor, disable_and_enable),
        *(onboard, new_operator, new_admin, contact),
    )
}


@contextlib.contextmanager
def fault_at(dependencies: Dependencies, number: int) -> Iterator[list[str]]:
    """Let the statement of this number fail; gives what was run."""
    engine, seen = dependencies.database._engine.sync_engine, []

    def before(_: object, __: object, statement: str, *rest: object) -> None:
        seen.append(statement)
        if len(seen) == number:
            raise psycopg.errors.IoError("a fault of a test")

    event.listen(engine, "before_cursor_execute", before)
    try:
        yield seen
    finally:
        event.remove(engine, "before_cursor_execute", before)


async def everything(dependencies: Dependencies, about: About) -> dict[str, list[str]]:
    """All rows that name the entity, the person, the caller's transaction or an address of it."""
    found = {}
    async with dependencies.database.transaction() as transaction:
        for table in metadata.sorted_tables:
            columns = [
                sa.cast(column, sa.Text).contains(value)
                for column in table.columns
                for name, value in (
                    ("entity_id", about.entity_id),
                    ("user_id", about.user_id),
                    ("email", about.email),
                    ("recipient", about.email),
                    ("txn_id", about.caller.txn_id),
                )
                if column.name == name
            ]
            if columns and table.name != "audit_event":
                rows = await transaction.connection.execute(
                    sa.select(table).where(sa.or_(*columns))
                )
                found[table.name] = sorted(map(str, rows))
        audit = metadata.tables["audit_event"].c
        rows = await transaction.connection.execute(
            sa.select(audit.event).where(audit.txn_id == about.caller.txn_id)
        )
        found["audit_event"] = sorted(map(str, rows))
    return found


@pytest.mark.parametrize("name", ACTS)
def test_a_fault_at_any_statement_leaves_nothing_of_the_act(
    service: Service, member: Member, name: str
) -> None:
    act = ACTS[name]
    service.advance("PT6M")  # a reset so long after the first secret

    async def drill(dependencies: Dependencies) -> int:
        await dependencies.invalidation.start()  # else within the act, which then reads the clock
        async with dependencies.unit_of_work() as work:
            user = await work.people.by_username(member.email)
            assert user is not None
        caller = Caller(f"user:{user.user_id}", txn_id=str(uuid.uuid4()))
        about = About(member.entity_id, member.email, user.user_id, caller)
        before = await everything(dependencies, about)
        for number in itertools.count(1):
            assert number < MOST
            with fault_at(dependencies, number) as seen:
                try:
                    async with dependencies.unit_of_work() as work:
                        result = await act(work, about)
                except (psycopg.Error, sa.exc.SQLAlchemyError, ServiceUnavailable):
                    assert len(seen) == number, seen[number - 1 :]
                else:
                    assert len(seen) < number, (
                        "the fault was swallowed",
                        seen[number - 1 : number],
                    )
                    break
            assert await everything(dependencies, about) == before, seen[-1]
        after = await everything(dependencies, about)
        assert after["audit_event"], "no act without its audit row"
        assert after != before
        assert not isinstance(result, Refusal) or name == "wrong_code"
        return number

    assert service.in_store(drill) > 3
