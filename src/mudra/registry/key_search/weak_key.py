"""A registered key, how far it was searched, and what was found about it."""

import enum
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from mudra.registry.payload.fields.weak_keys import LARGEST_FACTOR

FIRST: Final = LARGEST_FACTOR
"""A registration is refused for smaller factors."""
LAST: Final = 1 << 32
STEP: Final = 1 << 27
"""Some seconds of CPU."""
STEPS: Final = -(-(LAST - FIRST) // STEP)
"""A key that was in this many steps, one after the other, was tried with every prime."""


class Weakness(enum.StrEnum):
    """The reason why anyone can find the private key."""

    SMALL_FACTOR = "small-factor"
    SHARED_PRIME = "shared-prime"


class KeyInUse(Struct, frozen=True):
    """The key of an entry's live version, or of one that is to be live."""

    entity_id: str
    kid: str
    modulus_hash: str
    modulus: int


class Step(Struct, frozen=True):
    """The keys that are tried next with the primes from `begin` up to `end`: `new` and `known`.

    The new ones are compared with all others in use as well. `number` counts all steps.
    """

    number: int
    begin: int
    end: int
    new: Sequence[KeyInUse]
    known: Sequence[KeyInUse] = ()
    done: Sequence[KeyInUse] = ()

    @property
    def every(self) -> Sequence[KeyInUse]:
        """Return the keys in the order that findings count them by."""
        return (*self.new, *self.known, *self.done)


class Found(Struct, frozen=True):
    """The findings of a step, by the places of keys in `every`."""

    divisible: Sequence[int] = ()
    sharing: Sequence[tuple[int, int]] = ()


class WeakKey(Struct, frozen=True):
    """A key in use that anyone can factor."""

    entity_id: str
    kid: str
    weakness: Weakness
    found_at: datetime


Search = Callable[[Step], Awaitable[Found | None]]
"""Takes a step, in a process of its own: it takes seconds of CPU. None: not now, try again."""
