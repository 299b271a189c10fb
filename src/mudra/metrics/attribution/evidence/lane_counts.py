"""From the evidence of one window to bad events and events of every lane in every cell."""

from typing import Final

import numpy as np
from msgspec import Struct

from mudra.metrics.attribution.baselines.latency_baseline import NEVER_MS
from mudra.metrics.attribution.evidence.evidence import Evidence
from mudra.metrics.attribution.evidence.lanes import (
    CALL_APIS,
    LANES,
    LANES_OF,
    MANY_CALLS,
    Flags,
    Floats,
    Symptom,
)
from mudra.metrics.attribution.evidence.latency import calls_above
from mudra.metrics.payload.catalogue import NotificationType, RequestType

_REQUESTS: Final = [
    CALL_APIS.index(RequestType.FI_REQUEST.api),
    CALL_APIS.index(RequestType.ACCOUNT_LINK_VERIFY.api),
]
_NOTIFICATIONS: Final = [
    CALL_APIS.index(NotificationType.FI.api),
    CALL_APIS.index(NotificationType.ACCOUNT_LINK.api),
]
_SAME_WINDOW: Final = 0.8
"""Share of notifications that come in the window of their request; the rest in the next."""
_MEDIAN, _MAXIMUM = 0, 3  # spec 2.5: `pxx`
_SUCCEEDED, _FAILED, _READY, _DENIED, _DELIVERED, _TIMEOUT = range(6)  # spec 2.6


class LaneCounts(Struct, frozen=True):
    """Lane x AA x FIP; 0 events where there is no report."""

    bad: Floats
    events: Floats


def lane_counts(
    evidence: Evidence,
    evaluated: Flags,
    thresholds: tuple[Floats, Floats],
    previous_requests: Floats,
) -> LaneCounts:
    """Count the lanes of the evaluated cells."""
    shape = (len(LANES), evidence.aas, evidence.fips)
    bad, events = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    answered = evidence.total - evidence.client_errors
    bad[LANES_OF[Symptom.FAILURES]], events[LANES_OF[Symptom.FAILURES]] = evidence.failed, answered
    bad[LANES_OF[Symptom.CLIENT_ERRORS]] = evidence.client_errors
    events[LANES_OF[Symptom.CLIENT_ERRORS]] = evidence.total
    slow, tail = thresholds
    bad[LANES_OF[Symptom.SLOW]], events[LANES_OF[Symptom.SLOW]] = _slow_calls(evidence, slow)
    bad[LANES_OF[Symptom.TAIL]], events[LANES_OF[Symptom.TAIL]] = _tail_calls(evidence, tail)
    status = evidence.statuses
    outcomes = LANES_OF[Symptom.OUTCOMES].start
    bad[outcomes], events[outcomes] = status[_FAILED], status[_SUCCEEDED] + status[_FAILED]
    bad[outcomes + 1] = status[_TIMEOUT]
    events[outcomes + 1] = status[_READY] + status[_DENIED] + status[_DELIVERED] + status[_TIMEOUT]
    requests = accepted_requests(evidence)
    bad[LANES_OF[Symptom.MISSING]] = evidence.total[_NOTIFICATIONS]
    # No more are due from the window before than from this one: where requests become few at once,
    # those of before may all have been answered.
    previous = np.minimum(previous_requests, requests)
    events[LANES_OF[Symptom.MISSING]] = _SAME_WINDOW * requests + (1 - _SAME_WINDOW) * previous
    events[LANES_OF[Symptom.MISSING]] *= evidence.notified[:, None]
    bad *= evaluated
    events *= evaluated
    return LaneCounts(bad, events)


def _slow_calls(evidence: Evidence, threshold: Floats) -> tuple[Floats, Floats]:
    """Every call is an event; of few calls only the median and the maximum are the same for all."""
    points = evidence.percentiles.copy()
    few = evidence.samples < MANY_CALLS
    points[few, _MEDIAN + 1 : _MAXIMUM] = points[few, _MAXIMUM:]
    known = (threshold < NEVER_MS) & (evidence.samples > 0)
    slow = np.zeros_like(evidence.samples)
    slow[known] = calls_above(evidence.samples[known], points[known], threshold[known])
    return slow, evidence.samples * known


def _tail_calls(evidence: Evidence, threshold: Floats) -> tuple[Floats, Floats]:
    """Calls of pairs with many calls, then one event for each pair with few."""
    known = (threshold < NEVER_MS) & (evidence.samples > 0)
    many = known & (evidence.samples >= MANY_CALLS)
    few = known & ~many
    above = np.zeros_like(evidence.samples)
    above[many] = calls_above(evidence.samples[many], evidence.percentiles[many], threshold[many])
    late = few & (evidence.percentiles[..., _MAXIMUM] > threshold)
    return np.concatenate((above, late)), np.concatenate((evidence.samples * many, few))


def accepted_requests(evidence: Evidence) -> Floats:
    """Requests that the FIP answered with 200, so that a notification is due."""
    accepted = evidence.total - evidence.failed - evidence.client_errors
    return np.asarray(np.maximum(accepted[_REQUESTS], 0.0), np.float32)
