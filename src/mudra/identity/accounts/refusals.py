"""Refusals about accounts."""

from mudra.shared.refusal import Refusal


class ValueRefused(Refusal, frozen=True):
    """A value is not accepted; `problem` says what is allowed."""

    field: str
    problem: str


class NoSuchUser(Refusal, frozen=True):
    """There is no user with this ID or address."""


class AddressTaken(Refusal, frozen=True):
    """Another account has this address."""


class WrongAccountKind(Refusal, frozen=True):
    """Operators and admins need separate accounts, and this address has one of the other kind."""
