"""Members and admins with passwords for the benchmarks, made by the real use cases."""

import asyncio
from contextlib import nullcontext

from tests.support.cheap_hashes import cheap_hashes

from bench.sizes import SHORT
from mudra.audit.event import Caller
from mudra.bootstrap.dependencies import Dependencies, build_dependencies
from mudra.demo.activation import activate, hash_once
from mudra.identity.memberships.onboard import NewMember, Onboarded, onboard_member
from mudra.identity.operators.person_rule import owner
from mudra.settings.settings import Settings
from mudra.storage.crypto.data_encryption import DataEncryption

PASSWORD = "a long password of the benchmarks"


def make_people(
    conninfo: str, encryption: DataEncryption, settings: Settings, admins: int
) -> dict[str, str]:
    """Onboard a member for each admin, who can sign in; gives entity ID and e-mail address."""
    return asyncio.run(_make(build_dependencies(settings, conninfo, encryption), admins))


async def _make(dependencies: Dependencies, admins: int) -> dict[str, str]:
    await dependencies.invalidation.start()
    with cheap_hashes() if SHORT else nullcontext():
        hashed = await hash_once(dependencies, PASSWORD)
    made = {}
    for number in range(admins):
        new = NewMember(
            f"PEOPLE-{number}", "FIP", f"People {number}", f"admin{number}@bench.example"
        )
        async with dependencies.transaction() as tx:
            result = await onboard_member(tx, new, owner(Caller("operator:bench")))
        assert isinstance(result, Onboarded), result
        await activate(dependencies, result.admin, hashed)
        made[new.entity_id] = new.admin_email
    await dependencies.invalidation.stop()
    await dependencies.database.close()
    return made
