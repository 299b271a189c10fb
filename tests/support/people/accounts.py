"""What operators do with accounts, by the use cases themselves: a command opens the store for it."""

from collections.abc import Awaitable, Callable

from tests.support.service import Service, in_store

from mudra.audit.event import Caller
from mudra.bootstrap.dependencies import Dependencies
from mudra.identity.accounts.manage_accounts import AccountChanged, disable_account, enable_account
from mudra.identity.accounts.people_store import People
from mudra.identity.memberships.membership_store import Memberships
from mudra.identity.operators.person_rule import ActingOperator, owner
from mudra.storage.database.transaction import Transaction


def disable(service: Service, email: str) -> None:
    """Disable the account behind an address."""
    in_store(service, lambda dependencies: _changed(dependencies, email, disable_account))


def enable(service: Service, email: str) -> None:
    """Enable it again."""
    in_store(service, lambda dependencies: _changed(dependencies, email, enable_account))


def leave_alone(service: Service, *emails: str) -> None:
    """Take the scopes of all who manage operators, but of these."""

    async def take(dependencies: Dependencies) -> None:
        async with dependencies.transaction() as tx:
            found = [await People(tx).by_username(email) for email in emails]
            kept = {user.user_id for user in found if user is not None}
            for other in await Memberships(tx).managers() - kept:
                await Memberships(tx).set_scopes(other, frozenset())

    in_store(service, take)


def managers(service: Service) -> set[str]:
    """The user IDs of all who manage operators."""

    async def read(dependencies: Dependencies) -> set[str]:
        async with dependencies.transaction() as tx:
            return set(await Memberships(tx).managers())

    return in_store(service, read)


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
