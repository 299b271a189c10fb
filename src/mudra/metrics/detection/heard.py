"""The reports of a window as read, and which of them cannot be read."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from msgspec import Struct

from mudra.metrics.payload.catalogue import Tag

if TYPE_CHECKING:
    from mudra.metrics.detection.window_calls import WindowCalls


class Heard(Struct, frozen=True):
    """The contents of a window's reports."""

    calls: "WindowCalls"
    lost: frozenset[tuple[str, Tag]] = frozenset()
    """AAs and tags whose report has a damaged block: nothing of it is in the calls."""


class CallsOfIncident(Struct, frozen=True):
    """The calls that an incident is about: of an AA, a FIP, or any of them (None), by APIs."""

    incident_id: str
    aa_id: str | None
    fip_id: str | None
    apis: Sequence[str]
    """Codes as in a subject; none of a silent agent."""
    windows: Sequence[datetime]
    """The bad ones, in order."""
