"""Refusals about accounts."""

from mudra.shared.refusal import Refusal, RefusalKind


class NoSuchUser(Refusal, frozen=True):
    """There is no user with this ID or address."""

    kind = RefusalKind.NOT_FOUND
    sentence = "no user of this ID, or the account is disabled"


class AddressTaken(Refusal, frozen=True):
    """Another account has this address."""

    kind = RefusalKind.CONFLICT
    sentence = "email belongs to another account"


class WrongAccountKind(Refusal, frozen=True):
    """Operators and admins need separate accounts, and this address has one of the other kind."""

    kind = RefusalKind.CONFLICT
    sentence = (
        "email has an account of the other kind: operators and admins of entities "
        "use accounts of their own"
    )
