"""The calls of an incident, as they are counted again from the reports of its bad windows."""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct


class CallsOfIncident(Struct, frozen=True):
    """The calls that an incident is about: of an AA, a FIP, or any of them (None), by APIs."""

    incident_id: str
    aa_id: str | None
    fip_id: str | None
    apis: Sequence[str]
    """Codes as in a subject; none of a silent agent."""
    windows: Sequence[datetime]
    """The bad ones, in order."""
