"""Members and admins with passwords for the benchmarks, made by the real use cases."""

import asyncio
from pathlib import Path

from mudra.audit.event import Caller
from mudra.identity.onboard import NewMember, Onboarded
from mudra.identity.ports import HashingBusy
from mudra.identity.set_password import set_password
from mudra.identity.user import User
from mudra.mail.compose import links_in
from mudra.runtime.config import Settings
from mudra.runtime.onboarding import onboard
from mudra.runtime.wiring import Rooms, open_rooms
from mudra.secret_text import SecretText
from mudra.storage.password_hash import Argon2Passwords
from mudra.storage.seal import Seal

PASSWORD = "a long password of the benchmarks"


def make_people(conninfo: str, seal: Seal, data_dir: Path, admins: int) -> dict[str, str]:
    """Onboard a member for each admin, who can sign in; gives entity ID and e-mail address."""
    return asyncio.run(_make(open_rooms(Settings(data_dir=data_dir), conninfo, seal), admins))


async def _make(rooms: Rooms, admins: int) -> dict[str, str]:
    await rooms.freshness.start()
    hasher = Argon2Passwords(rooms.seal.password_pepper, rooms.settings.argon2_memory_mib)
    hashed = await hasher.hash(SecretText(PASSWORD))
    assert not isinstance(hashed, HashingBusy)
    made = {}
    for number in range(admins):
        email = f"admin{number}@bench.example"
        await _join(rooms, NewMember(f"PEOPLE-{number}", "FIP", f"People {number}", email), hashed)
        made[f"PEOPLE-{number}"] = email
    await rooms.freshness.stop()
    await rooms.database.close()
    return made


async def _join(rooms: Rooms, new: NewMember, hashed: str) -> None:
    async with rooms.open_work() as work:
        result = await onboard(new, Caller("operator:bench"), work)
    assert isinstance(result, Onboarded), result
    async with rooms.database.transaction() as transaction:
        mail = (await rooms.outbox(transaction).mails(to=new.admin_email))[-1]
    async with rooms.open_work() as work:
        user = await set_password(
            SecretText(links_in(mail.letter.text)[0].rpartition("/")[2]),
            hashed,
            Caller(f"user:{result.admin.user_id}"),
            people=work.people,
            links=work.links,
            attempts=work.attempts,
            tokens=work.tokens,
            outbox=work.outbox,
            journal=work.journal,
        )
    assert isinstance(user, User), user
