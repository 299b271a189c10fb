"""What operators do with accounts, by the use cases themselves: a command opens the store for it."""

from collections.abc import Awaitable, Callable

from tests.support.service import Service

from mudra.audit.event import Caller
from mudra.bootstrap.dependencies import Dependencies
from mudra.identity.accounts.acts.manage_accounts import (
    AccountChanged,
    disable_account,
    enable_account,
)
from mudra.identity.accounts.people_store import People
from mudra.identity.operators.operator_store import Operators
from mudra.identity.operators.person_rule import ActingOperator, owner
from mudra.storage.database.transaction import Transaction


def disable(service: Service, email: str) -> None:
    """Disable the account behind an address."""
    service.in_store(lambda dependencies: _changed(dependencies, email, disable_account))


def enable(service: Service, email: str) -> None:
    """Enable it again."""
    service.in_store(lambda dependencies: _changed(dependencies, email, enable_account))


def leave_alone(service: Service, *emails: str) -> None:
    """Take the scopes of all who manage operators, but of these."""

    async def take(dependencies: Dependencies) -> None:
        async with dependencies.transaction() as tx:
            found = [await People(tx).by_username(email) for email in emails]
            kept = {user.user_id for user in found if user is not None}
            for other in await Operators(tx).managers() - kept:
                await Operators(tx).set_scopes(other, frozenset())

    service.in_store(take)


def managers(service: Service) -> set[str]:
    """The user IDs of all who manage operators."""

    async def read(dependencies: Dependencies) -> set[str]:
        async with dependencies.transaction() as tx:
            return set(await Operators(tx).managers())

    return service.in_store(read)


async def _changed(
    dependencies: Dependencies,
    email: str,
    change: Callable[[Transaction, ActingOperator, str], Awaitable[object]],
) -> None:
    async with dependencies.transaction() as tx:
        user = await People(tx).by_username(email)
        assert user is not None
        done = await change(tx, owner(Caller("operator:tests")), user.user_id)
    assert isinstance(done, AccountChanged), done
