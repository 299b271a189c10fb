"""Activates an account as its user would, without a browser: for demonstration and tests."""

from mudra.audit.event import Caller
from mudra.bootstrap.dependencies import Dependencies
from mudra.identity.accounts.set_password import store_password
from mudra.identity.accounts.user import User
from mudra.identity.ports import HashingBusy
from mudra.shared.email_message import links_in
from mudra.shared.secret_text import SecretText
from mudra.storage.crypto.password_hash import Argon2Passwords


async def hash_once(dependencies: Dependencies, password: str) -> str:
    """Hash a password that many accounts share: one hash for all of them."""
    hasher = Argon2Passwords(
        dependencies.encryption.password_pepper, dependencies.settings.argon2_memory_mib
    )
    hashed = await hasher.hash(SecretText(password))
    hasher.close()
    assert not isinstance(hashed, HashingBusy)
    return hashed


async def activate(dependencies: Dependencies, invited: User, password_hash: str) -> None:
    """Set the password by the link of the invitation."""
    async with dependencies.database.transaction() as transaction:
        mail = (await dependencies.outbox(transaction).mails(to=invited.email))[-1]
    token = SecretText(links_in(mail.email.text)[0].rpartition("/")[2])
    async with dependencies.unit_of_work() as work:
        caller = Caller(f"user:{invited.user_id}")
        user = await store_password(work, token, password_hash, caller)
    assert isinstance(user, User), user


class Activation:
    """Implements demo/set_up.py Activation."""

    def __init__(self, dependencies: Dependencies) -> None:
        self._dependencies = dependencies

    async def hash_once(self, password: str) -> str:
        """Hash a password that many accounts share."""
        return await hash_once(self._dependencies, password)

    async def activate(self, invited: User, password_hash: str) -> None:
        """Set the password of an invited user."""
        await activate(self._dependencies, invited, password_hash)
