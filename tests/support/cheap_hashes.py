"""Password hashes at a twentieth of their memory, for services whose tests are not about hashing.

The setting goes no lower than what protects passwords, so this changes the size of its unit.
"""

import contextlib
from collections.abc import Iterator
from typing import Final

from tests.support import set_clock, short_past

from mudra.bootstrap import entry_point
from mudra.identity.accounts import password_hash

_KIB_OF_A_MIB: Final = 54
MEMORY_KIB: Final = password_hash.MIN_MEMORY_MIB * _KIB_OF_A_MIB
"""What one hash of such a service takes."""


_FULL: Final = password_hash._MIB


@contextlib.contextmanager
def cheap_hashes() -> Iterator[None]:
    """Make the hashes cheap of what is built meanwhile, which reads the size once."""
    password_hash._MIB = _KIB_OF_A_MIB  # type: ignore[misc]  # no setting goes so low
    try:
        yield
    finally:
        password_hash._MIB = _FULL  # type: ignore[misc]


def run() -> None:
    """Run the mudra program so, and by a clock and with a past that a test sets where it does."""
    set_clock.install()
    short_past.install()
    with cheap_hashes():
        entry_point.run()
