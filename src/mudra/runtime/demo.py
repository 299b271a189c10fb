"""The demonstration network of the sandbox: real members, made by the real use cases.

Idempotent: what is there already stays as it is, also when it was changed since.
"""

from typing import Final

from mudra.audit.event import Caller
from mudra.identity.accounts import OperatorMade
from mudra.identity.onboard import NewMember, Onboarded
from mudra.identity.ports import HashingBusy
from mudra.identity.roster import Scope
from mudra.identity.set_password import set_password
from mudra.identity.user import User
from mudra.mail.compose import links_in
from mudra.runtime.demo_network import (
    DEMO_NETWORK,
    DEMO_OPERATORS,
    DEMO_PASSWORD,
    DemoMember,
    DemoOperator,
)
from mudra.runtime.demo_registry import register_demo
from mudra.runtime.onboarding import onboard
from mudra.runtime.wiring import Rooms
from mudra.secret_text import SecretText
from mudra.storage.directory import UserFilter
from mudra.storage.password_hash import Argon2Passwords

_CALLER: Final = Caller("operator:sandbox")
_OPERATORS: Final = UserFilter(operators_only=True)
_MOST: Final = 1000


async def set_up_demo(rooms: Rooms) -> None:
    """Onboard and activate whoever is not there yet."""
    async with rooms.open_work() as work:
        there = {member.entity_id for member in await work.people.members()}
        operators = {row.email for row in await work.directory.users(_OPERATORS, "", _MOST)}
    missing = [member for member in DEMO_NETWORK if member.entity_id not in there]
    absent = [one for one in DEMO_OPERATORS if one.email not in operators]
    if not missing and not absent:
        return
    hasher = Argon2Passwords(rooms.seal.password_pepper, rooms.settings.argon2_memory_mib)
    # One hash for all: they share the password that the screen shows anyway.
    hashed = await hasher.hash(SecretText(DEMO_PASSWORD))
    assert not isinstance(hashed, HashingBusy)
    for operator in absent:
        await _employ(rooms, operator, hashed)
    for member in missing:
        await _join(rooms, member, hashed)
    if missing:
        await register_demo(rooms, missing)


async def _employ(rooms: Rooms, operator: DemoOperator, password_hash: str) -> None:
    scopes = frozenset(map(Scope, operator.scopes)) or frozenset(Scope)
    async with rooms.open_work() as work:
        made = await work.accounts.make_operator(operator.email, operator.name, scopes, _CALLER)
    assert isinstance(made, OperatorMade), made
    await _activate(rooms, made.user, password_hash)


async def _join(rooms: Rooms, member: DemoMember, password_hash: str) -> None:
    async with rooms.open_work() as work:
        result = await onboard(
            NewMember(
                member.entity_id, member.entity_type, member.name, member.admin, member.admin_name
            ),
            _CALLER,
            work,
        )
    assert isinstance(result, Onboarded), result
    await _activate(rooms, result.admin, password_hash)


async def _activate(rooms: Rooms, invited: User, password_hash: str) -> None:
    """Set the password by the link of the invitation, as the person would."""
    async with rooms.database.transaction() as transaction:
        mail = (await rooms.outbox(transaction).mails(to=invited.email))[-1]
    token = SecretText(links_in(mail.letter.text)[0].rpartition("/")[2])
    async with rooms.open_work() as work:
        user = await set_password(
            token,
            password_hash,
            Caller(f"user:{invited.user_id}"),
            people=work.people,
            links=work.links,
            attempts=work.attempts,
            tokens=work.tokens,
            outbox=work.outbox,
            journal=work.journal,
        )
        assert isinstance(user, User), user
