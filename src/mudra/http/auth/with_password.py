"""Signing in with username and password: the one way for tokens and for the console."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from mudra.http.request.request_context import RequestContext
from mudra.identity.accounts.password_rules import MAX_LENGTH
from mudra.identity.accounts.user import User
from mudra.identity.ports import HashingBusy
from mudra.identity.sign_in.sign_in import (
    Admitted,
    SignInRefused,
    TooManyAttempts,
    admit,
    keep_rehashed,
    settle,
)
from mudra.shared.network_address import address_key
from mudra.shared.secret_text import SecretText
from mudra.unit_of_work import UnitOfWork

T = TypeVar("T")
PasswordRefused = SignInRefused | TooManyAttempts | HashingBusy


async def with_password(
    context: RequestContext,
    username: str,
    password: SecretText,
    enter: Callable[[UnitOfWork, User], Awaitable[T]],
) -> T | PasswordRefused:
    """Sign in and `enter` in the same transaction; one hash on every branch (quality A6)."""
    service = context.service
    anonymous = context.caller("nobody")
    # A flood asks the throttle a few at a time: tokens are issued on the same loop (A8).
    async with service.sign_in_turns.turn() as came:
        if not came:
            return HashingBusy(int(service.sign_in_turns.wait_s))
        async with service.unit_of_work() as work:
            admitted = await admit(
                username,
                anonymous,
                origin=address_key(anonymous.address),
                people=work.people,
                attempts=work.attempts,
                journal=work.journal,
            )
    if not isinstance(admitted, Admitted):
        return admitted
    # What is too long was never stored; hashing its head costs the same as any other.
    tried = SecretText(password.reveal()[: MAX_LENGTH + 1])
    matches = await service.hasher.verify(admitted.stored_hash, tried)
    if isinstance(matches, HashingBusy):
        return matches
    async with service.unit_of_work() as work:
        user = await settle(
            admitted,
            anonymous,
            matches=matches,
            people=work.people,
            attempts=work.attempts,
            journal=work.journal,
        )
        if not isinstance(user, User):
            return user
        entered = await enter(work, user)
    await _rehash(context, user, tried)
    return entered


async def _rehash(context: RequestContext, user: User, password: SecretText) -> None:
    """Hash a right password anew when the parameters were changed since (quality A11)."""
    hasher = context.service.hasher
    if user.password_hash is None or not hasher.needs_rehash(user.password_hash):
        return
    hashed = await hasher.hash(password)
    if isinstance(hashed, HashingBusy):
        return  # the next sign-in comes by here too
    async with context.service.unit_of_work() as work:
        caller = context.caller(f"user:{user.user_id}")
        await keep_rehashed(user, hashed, caller, people=work.people, journal=work.journal)
