"""The lanes that are watched: one symptom of one API, each a count of bad events out of events.

A lane turns every question about a cell (one AA, one FIP) into the same one:
are `bad` of `events` more than usual? Latency becomes a count too: calls above
a threshold taken from the cell's own history.
"""

import enum
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from mudra.metrics.payload.catalogue import (
    CUSTOMER_CODES,
    TIMINGS,
    NotificationType,
    RequestType,
)

Floats = NDArray[np.float32]
Flags = NDArray[np.bool_]


class Symptom(enum.IntEnum):
    """The symptom that a lane watches."""

    FAILURES = 0
    CLIENT_ERRORS = 1
    SLOW = 2
    TAIL = 3
    OUTCOMES = 4
    MISSING = 5


class Lane(Struct, frozen=True):
    """One symptom of one API, and how often it is bad in a network without history."""

    symptom: Symptom
    api: str
    """The code of its type in incidents."""
    usual_rate: float


REQUEST_APIS: Final = tuple(one.api for one in RequestType if one not in TIMINGS)
CALL_APIS: Final = (*REQUEST_APIS, *(one.api for one in NotificationType))
"""Have answers: requests of AAs first, then notifications of FIPs."""
_TIMINGS: Final = tuple(one.api for one in RequestType if one in TIMINGS)
APIS: Final = (*CALL_APIS, *_TIMINGS)
TIMED_APIS: Final = (*REQUEST_APIS, *_TIMINGS)
"""Have percentiles; spec 2.6 gives none for notifications."""

FIP_STATUSES: Final = 7  # spec 2.6: `status` of finot


def _lanes() -> tuple[Lane, ...]:
    often_refused: dict[str, float] = {
        RequestType.ACCOUNT_DISCOVERY.api: 0.15,
        RequestType.ACCOUNT_LINK_VERIFY.api: 0.05,
    }
    return (
        *(Lane(Symptom.FAILURES, api, 0.01) for api in CALL_APIS),
        *(Lane(Symptom.CLIENT_ERRORS, api, often_refused.get(api, 0.02)) for api in CALL_APIS),
        *(Lane(Symptom.SLOW, api, 0.25) for api in TIMED_APIS),
        *(Lane(Symptom.TAIL, api, 0.006) for api in TIMED_APIS),
        *(Lane(Symptom.TAIL, api, 0.05) for api in TIMED_APIS),
        Lane(Symptom.OUTCOMES, NotificationType.FI.api, 0.05),
        Lane(Symptom.OUTCOMES, NotificationType.FI.api, 0.04),
        Lane(Symptom.MISSING, NotificationType.FI.api, 0.9),
        Lane(Symptom.MISSING, NotificationType.ACCOUNT_LINK.api, 0.9),
    )


LANES: Final = _lanes()
SYMPTOMS: Final = len(Symptom)
LANE_SYMPTOM: Final = np.array([lane.symptom for lane in LANES])
LANES_OF: Final = tuple(
    slice(
        int(np.flatnonzero(symptom == LANE_SYMPTOM)[0]),
        int(np.flatnonzero(symptom == LANE_SYMPTOM)[-1]) + 1,
    )
    for symptom in Symptom
)
"""The lanes of a symptom lie side by side, so that a slice selects them."""
FOR_CUSTOMERS: Final = np.array([lane.api in CUSTOMER_CODES for lane in LANES])
"""Lanes of requests that serve customers: neither heartbeats nor what FIPs send."""
USUAL_RATES: Final = np.array([lane.usual_rate for lane in LANES], np.float32)
MANY_CALLS: Final = 20.0
"""From so many calls in a window on, all percentiles of a cell are counted as calls.

The tail has two lanes for each API. The second is for cells with fewer calls: one
event a window, bad if the maximum is too long, since agents differ in what p95 of
three calls is. How many calls are longer than the usual median they agree on.
"""
ARRIVALS: Final = LANES_OF[Symptom.MISSING]
"""Lanes that count what came instead of what was bad: notifications per request."""

RELATED: Final = {
    Symptom.FAILURES: frozenset(Symptom) - {Symptom.CLIENT_ERRORS},
    Symptom.SLOW: frozenset({Symptom.SLOW, Symptom.TAIL}),
    Symptom.TAIL: frozenset({Symptom.SLOW, Symptom.TAIL}),
    Symptom.CLIENT_ERRORS: frozenset({Symptom.CLIENT_ERRORS}),
    Symptom.OUTCOMES: frozenset({Symptom.OUTCOMES, Symptom.MISSING}),
    Symptom.MISSING: frozenset({Symptom.OUTCOMES, Symptom.MISSING}),
}
"""What a cause with this symptom explains along with it."""

_FI_RESULT: Final = frozenset({NotificationType.FI.api, *_TIMINGS})


def same_api(first: str, second: str) -> bool:
    """Return whether both measure the same: the result of an FI request is measured three times."""
    return first == second or {first, second} <= _FI_RESULT


def explained_lanes(symptoms: frozenset[Symptom], apis: frozenset[str] | None) -> Flags:
    """The lanes that a cause with these symptoms explains; None means all APIs."""
    related = frozenset(other for symptom in symptoms for other in RELATED[symptom])
    return np.array(
        [
            lane.symptom in related
            and (apis is None or any(same_api(lane.api, api) for api in apis))
            for lane in LANES
        ]
    )
