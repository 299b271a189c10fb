"""A secret may be reset between the two statements that read it and its text."""

from typing import cast

import msgspec
from tests.support.members import new_member
from tests.support.service import Service

from mudra.audit.event import Caller
from mudra.bootstrap.dependencies import Dependencies
from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.user import User
from mudra.shared.secret_text import SecretText
from mudra.tokens.secrets.secret import EntitySecret
from mudra.tokens.secrets.secret_service import ResetCommand, SecretDetails, SecretService
from mudra.tokens.secrets.secret_store import Secrets

CALLER = Caller("operator:tests")


def test_a_read_during_a_reset_without_grace_gives_the_new_secret(service: Service) -> None:
    member = new_member(service)

    async def reset(dependencies: Dependencies, user: User) -> SecretDetails:
        async with dependencies.transaction() as tx:
            done = await tx.service(SecretService).reset(
                ResetCommand(member.entity_id, 90, 0), user, CALLER
            )
        assert isinstance(done, SecretDetails)
        return done

    async def read_during_reset(dependencies: Dependencies) -> tuple[SecretDetails, SecretDetails]:
        resets: list[SecretDetails] = []

        async with dependencies.transaction() as tx:
            user = await People(tx).by_username(member.email)
            assert user is not None

            class ResetFirst:
                """The secrets of this transaction, where a reset comes before the first text."""

                held = Secrets(tx).held

                async def text_of(self, secret: EntitySecret) -> SecretText | None:
                    if not resets:
                        resets.append(await reset(dependencies, user))
                    return await Secrets(tx).text_of(secret)

            service_of_both = msgspec.structs.replace(
                tx.service(SecretService), secrets=cast("Secrets", ResetFirst())
            )
            found = await service_of_both.read(member.entity_id, user, CALLER)
        assert isinstance(found, SecretDetails)
        return resets[0], found

    new, found = service.in_store(read_during_reset)

    assert (found.secret.version, found.text) == (new.secret.version, new.text)
    assert member.secret() == found.text.reveal()
