"""The demonstration network of the sandbox: real members, created by the real use cases.

Idempotent: existing members and operators stay as they are, also when changed since.
"""

from typing import Final

from mudra.audit.event import Caller
from mudra.demo.activation import activate, hash_once
from mudra.demo.dependencies import Dependencies
from mudra.demo.network import DEMO_NETWORK, DEMO_OPERATORS, DEMO_PASSWORD, DemoMember, DemoOperator
from mudra.demo.registry import register_demo
from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.user import User
from mudra.identity.memberships.admins import requested_by
from mudra.identity.memberships.contact import set_contact
from mudra.identity.memberships.member_search import UserFilter
from mudra.identity.memberships.member_search_store import MemberSearch
from mudra.identity.memberships.onboard import NewMember, Onboarded, onboard_member
from mudra.identity.operators.manage_operators import OperatorSaved, save_operator
from mudra.identity.operators.operator import Scope
from mudra.identity.operators.person_rule import owner

_CALLER: Final = Caller("operator:sandbox")
_OPERATORS: Final = UserFilter(operators_only=True)
_MAX_COUNT: Final = 1000


async def set_up_demo(dependencies: Dependencies) -> None:
    """Onboards and activates the members and operators that do not exist yet."""
    async with dependencies.transaction() as tx:
        existing = {member.entity_id for member in await People(tx).members()}
        operators = {row.email for row in await MemberSearch(tx).users(_OPERATORS, "", _MAX_COUNT)}
    missing = [member for member in DEMO_NETWORK if member.entity_id not in existing]
    absent = [one for one in DEMO_OPERATORS if one.email not in operators]
    if not missing and not absent:
        return
    # One hash for all: they share the password that the screen shows anyway.
    hashed = await hash_once(dependencies, DEMO_PASSWORD)
    for operator in absent:
        await activate(dependencies, await _add_operator(dependencies, operator), hashed)
    for member in missing:
        await activate(dependencies, await _onboard(dependencies, member), hashed)
    if missing:
        await register_demo(dependencies, missing)


async def _add_operator(dependencies: Dependencies, operator: DemoOperator) -> User:
    scopes = frozenset(map(Scope, operator.scopes)) or frozenset(Scope)
    async with dependencies.transaction() as tx:
        made = await save_operator(tx, operator.email, operator.name, scopes, _CALLER)
    assert isinstance(made, OperatorSaved), made
    return made.user


async def _onboard(dependencies: Dependencies, member: DemoMember) -> User:
    async with dependencies.transaction() as tx:
        new = NewMember(
            member.entity_id, member.entity_type, member.name, member.admin, member.admin_name
        )
        result = await onboard_member(tx, new, owner(_CALLER))
        assert isinstance(result, Onboarded), result
        number = DEMO_NETWORK.index(member) + 1
        phone = f"+91 22 5550 01{number:02}"
        await set_contact(tx, requested_by(owner(_CALLER)), member.entity_id, "", phone)
    return result.admin
