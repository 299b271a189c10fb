"""The demonstration network of the sandbox: real members, made by the real use cases.

Idempotent: what is there already stays as it is, also when it was changed since.
"""

from mudra.audit.event import Caller
from mudra.identity.onboard import NewMember, Onboarded
from mudra.identity.ports import HashingBusy
from mudra.identity.set_password import set_password
from mudra.identity.user import User
from mudra.mail.compose import links_in
from mudra.runtime.demo_network import DEMO_NETWORK, DEMO_PASSWORD, DemoMember
from mudra.runtime.onboarding import onboard
from mudra.runtime.wiring import Rooms
from mudra.secret_text import SecretText
from mudra.storage.password_hash import Argon2Passwords


async def set_up_demo(rooms: Rooms) -> None:
    """Onboard and activate whoever is not there yet."""
    async with rooms.open_work() as work:
        there = {member.entity_id for member in await work.people.members()}
    missing = [member for member in DEMO_NETWORK if member.entity_id not in there]
    if not missing:
        return
    hasher = Argon2Passwords(rooms.seal.password_pepper, rooms.settings.argon2_memory_mib)
    # One hash for all: they share the password that the screen shows anyway.
    hashed = await hasher.hash(SecretText(DEMO_PASSWORD))
    assert not isinstance(hashed, HashingBusy)
    for member in missing:
        await _join(rooms, member, hashed)


async def _join(rooms: Rooms, member: DemoMember, password_hash: str) -> None:
    caller = Caller("operator:sandbox")
    async with rooms.open_work() as work:
        result = await onboard(
            NewMember(
                member.entity_id, member.entity_type, member.name, member.admin, member.admin_name
            ),
            caller,
            work,
        )
    assert isinstance(result, Onboarded), result
    async with rooms.database.transaction() as transaction:
        mail = (await rooms.outbox(transaction).mails(to=member.admin))[-1]
    token = SecretText(links_in(mail.letter.text)[0].rpartition("/")[2])
    async with rooms.open_work() as work:
        user = await set_password(
            token,
            password_hash,
            Caller(f"user:{result.admin.user_id}"),
            people=work.people,
            links=work.links,
            attempts=work.attempts,
            tokens=work.tokens,
            outbox=work.outbox,
            journal=work.journal,
        )
        assert isinstance(user, User), user
