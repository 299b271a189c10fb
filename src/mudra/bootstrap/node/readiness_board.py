"""The readiness of a node for requests: found by its jobs process, read by its supervisor."""

import mmap
from typing import Final

from mudra.http.dependencies import Readiness
from mudra.shared.unavailable import Outage

_CAUSES: Final = ("", *Outage)
_READY: Final = 0x80


class ReadinessBoard:
    """A byte of memory that the processes of a node share; it is made before they are forked."""

    def __init__(self) -> None:
        self._byte = mmap.mmap(-1, 1)
        self._byte[0] = _READY

    def write(self, found: Readiness) -> None:
        """Note what was found."""
        at_fault = found.outage or found.impairment
        cause = _CAUSES.index(at_fault.cause) if at_fault is not None else 0
        self._byte[0] = cause | (0 if found.outage is not None else _READY)

    def read(self) -> tuple[bool, str]:
        """Return whether the node may be sent requests, and what keeps it from some of its work."""
        noted = self._byte[0]
        return bool(noted & _READY), _CAUSES[noted & ~_READY]
