"""Activates an account as its user would, without a browser: for demonstration and tests."""

from mudra.audit.event import Caller
from mudra.demo.dependencies import Dependencies
from mudra.identity.accounts.acts.set_password import store_password
from mudra.identity.accounts.password_hash import Argon2Passwords
from mudra.identity.accounts.refusals import HashingBusy
from mudra.identity.accounts.user import User
from mudra.shared.mail.email_message import links_in
from mudra.shared.secret_text import SecretText
from mudra.storage.mail.outbox import Outbox


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
    async with dependencies.transaction() as tx:
        mail = (await tx.service(Outbox).mails(invited.email))[-1]
        token = SecretText(links_in(mail.email.text)[0].rpartition("/")[2])
        user = await store_password(tx, token, password_hash, Caller(f"user:{invited.user_id}"))
    assert isinstance(user, User), user
