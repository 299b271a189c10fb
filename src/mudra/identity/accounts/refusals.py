"""Refusals about accounts."""

from typing import Final

from mudra.localization.language import translatable
from mudra.shared.refusal import PlainRefusal, Refusal, RefusalKind


class NoSuchUser(Refusal, frozen=True):
    """There is no user with this ID or address."""

    kind = RefusalKind.NOT_FOUND
    sentence = "no user of this ID, or the account is disabled"


ADDRESS_TAKEN: Final = PlainRefusal(RefusalKind.CONFLICT, "email belongs to another account")


class WrongAccountKind(Refusal, frozen=True):
    """Refuses an address with an account of the other kind: operators and admins need two."""

    kind = RefusalKind.CONFLICT
    sentence = (
        "email has an account of the other kind: operators and admins of entities "
        "use accounts of their own"
    )


class HashingBusy(Refusal, frozen=True):
    """Too many passwords are being hashed; try again after `retry_after_s` seconds."""

    kind = RefusalKind.BUSY
    sentence = translatable("this node is busy with other sign-ins; try again")
    retry_after_s: int
