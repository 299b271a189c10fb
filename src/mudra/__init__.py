"""Mudra: identity, registry and health of an account-aggregator network.

ARCHITECTURE.md says which room does what and what may call what. This package
itself holds only values that every room may use, and never imports a room.
"""

from typing import Final

DISTRIBUTION: Final = "mudra-network"
"""Its name for installers: on the public index, mudra is another product."""
