"""The user whom a command names by e-mail address."""

from mudra.identity.accounts.email_address import AddressRefused, normalize_email
from mudra.identity.accounts.user import User
from mudra.unit_of_work import UnitOfWork


async def user_of(work: UnitOfWork, email: str) -> User | None:
    """Find the user, however the address is typed; None when there is none."""
    address = normalize_email(email)
    return None if isinstance(address, AddressRefused) else await work.people.by_username(address)
