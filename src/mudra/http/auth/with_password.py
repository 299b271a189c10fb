"""Sign in with username and password over HTTP: for tokens and for the console."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from mudra.http.request.request_context import RequestContext
from mudra.identity.accounts.user import User
from mudra.identity.sign_in.sign_in import PasswordRefused, sign_in
from mudra.shared.network_address import address_key
from mudra.shared.secret_text import SecretText
from mudra.storage.database.transaction import Transaction

T = TypeVar("T")


async def with_password(
    context: RequestContext,
    username: str,
    password: SecretText,
    then: Callable[[Transaction, User], Awaitable[T]],
) -> T | PasswordRefused:
    """Check the password and, if it is right, run `then` in the same transaction."""
    dependencies = context.dependencies
    caller = context.caller("nobody")
    return await sign_in(
        username,
        password,
        caller,
        then,
        origin=address_key(caller.address),
        open_transaction=dependencies.transaction,
        hasher=dependencies.hasher,
        queue=dependencies.sign_in_turns,
        hourly=dependencies.settings.sign_in_hourly,
    )
