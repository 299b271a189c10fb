"""What most AAs see of a FIP, as `weighing` finds it."""

from collections.abc import Mapping

from msgspec import Struct

from mudra.metrics.health.health import Status


class Weighed(Struct, frozen=True):
    """What most AAs see of a FIP: its status, calls, and the share of those that succeeded."""

    status: Status
    total: int
    success: float | None
    """From 0 to 1; None without a denominator."""
    outvoted: tuple[str, ...] = ()
    """The AAs whose calls are left out."""


Disputed = Mapping[tuple[str, str], Weighed]
"""By FIP and type of request, where most AAs say other than the sums over all."""
