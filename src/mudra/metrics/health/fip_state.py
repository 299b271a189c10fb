"""The state of each API of each FIP by its latest evidence, as detection stores it for the feed."""

import enum
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final, Protocol

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from mudra.metrics.health.health import Status
from mudra.metrics.incidents.incident import Effect, Fip, Incident, Symptom
from mudra.metrics.payload.catalogue import FEED_APIS, WINDOW
from mudra.metrics.rollup.coverage import TimeRange


class Reason(enum.StrEnum):
    """The reason why an API is not GOOD."""

    FAILING = "failing"
    """Calls fail: 5xx or no answer."""
    SLOW = "slow"
    TAIL = "tail"
    """The slowest calls take far longer; the others do not."""
    REFUSING = "refusing"
    """Requests are refused (4xx), which the network's rule does not count."""
    OUTCOMES = "outcomes"
    """FI requests end without data."""
    MISSING = "missing"
    """Notifications do not come."""
    HEARTBEATS = "heartbeats"
    """Heartbeats alone fail, and no call of a customer has shown whether others do."""
    MAINTENANCE = "maintenance"
    """The FIP is, or was in the last judged window, in planned maintenance: nothing is judged."""


REASONS: Final = {
    Symptom.FAILURES: Reason.FAILING,
    Symptom.CLIENT_ERRORS: Reason.REFUSING,
    Symptom.SLOW: Reason.SLOW,
    Symptom.TAIL: Reason.TAIL,
    Symptom.OUTCOMES: Reason.OUTCOMES,
    Symptom.MISSING: Reason.MISSING,
}
CERTAIN: Final = 0.9999
"""The confidence of a state that a cause shows."""


class ApiState(Struct, frozen=True, array_like=True):
    """One API of one FIP. Calls of AAs and paths that have a cause of their own are left out."""

    status: Status
    confidence: float
    """Of the test behind the status, from 0 to 0.9999; of UNSURE, that of the likelier one."""
    calls: int
    """All but 4xx; of FI notifications, FI requests that ended."""
    failed: int
    reporters: int
    windows: int
    """So many windows up to the last one are the evidence."""
    since: int
    """Start of the first window with this status, in seconds since 1970."""
    reasons: tuple[Reason, ...] = ()
    """Why it is BAD or DEGRADED, or UNSURE for a maintenance or heartbeats; else empty."""

    def with_news(self, incident: Incident, *, of_api: bool) -> "ApiState":
        """Return the state with an incident at its FIP that later windows opened: never GOOD.

        They are judged once all reports are there. Until then an API that the incident is about has
        the state that it will have; of the others of a whole FIP nothing is known.
        """
        if self.status is Status.BAD:
            return self
        if not of_api or incident.by_heartbeats:
            is_in_doubt = isinstance(incident.subject, Fip) and self.status is Status.GOOD
            reasons = (Reason.HEARTBEATS,) if incident.by_heartbeats else ()
            unsure = replace(self, status=Status.UNSURE, confidence=0.0, reasons=reasons)
            return unsure if is_in_doubt else self
        cause = incident.cause
        return replace(
            self,
            status=Status.DEGRADED if incident.effect is Effect.DEGRADED else Status.BAD,
            confidence=CERTAIN,
            calls=cause.calls,
            failed=cause.failures,
            reporters=len(cause.affected_aas),
            since=int(incident.timeline[0].window.timestamp()),
            reasons=tuple(REASONS[one] for one in cause.symptoms),
        )


NOTHING_KNOWN: Final = ApiState(Status.UNSURE, 0.0, 0, 0, 0, 0, 0)


class FipStates(Struct, frozen=True):
    """The states after a window, in order of `FEED_APIS`."""

    window: datetime
    fips: dict[str, tuple[ApiState, ...]]

    def of(self, fip_id: str, api: str) -> ApiState:
        """Returns the state of an API by its name in the feed; UNSURE for one without calls."""
        states = self.fips.get(fip_id)
        return states[_PLACES[api]] if states else NOTHING_KNOWN

    @property
    def end(self) -> datetime:
        """The end of the last judged window."""
        return self.window + WINDOW


_PLACES: Final = {name: place for place, name in enumerate(FEED_APIS)}


def no_states() -> FipStates:
    """Returns the states before any window was judged."""
    return FipStates(datetime.fromtimestamp(0, UTC), {})


def states_to_bytes(states: FipStates) -> bytes:
    """Packs states."""
    return msgspec.msgpack.encode(states)


def states_from_bytes(data: bytes) -> FipStates:
    """Unpacks states."""
    return msgspec.msgpack.decode(data, type=FipStates)


class FipStateStore(Protocol):
    """The states of FIPs that detection keeps, window by window."""

    async def fip_counts(self, within: TimeRange) -> Sequence[tuple[datetime, bytes]]:
        """Returns the stored counts of FIPs in these windows, in order."""
        ...

    async def fip_states(self, *, before: datetime) -> bytes | None:
        """Returns the states of FIPs after the last window before this time."""
        ...

    async def save_fip_states(
        self,
        rows: Sequence[tuple[datetime, bytes, bytes]],
        *,
        since: datetime,
        drop_before: datetime,
    ) -> None:
        """Replaces counts and states from a window on, and announces the new states."""
        ...


class LatestFipStates(Protocol):
    """The states that the feed reads."""

    async def latest(self) -> FipStates:
        """Returns the states of FIPs after the last judged window."""
        ...
