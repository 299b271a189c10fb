"""Networks for the tests of attribution: even traffic, and what is wrong in one window."""

from collections.abc import Callable, Iterable
from functools import cache

import numpy as np

from mudra.metrics.attribution.causes.cause import Cause, CauseStatus, Locus
from mudra.metrics.attribution.engine import evaluate_window
from mudra.metrics.attribution.evidence.evidence import Evidence, empty_evidence
from mudra.metrics.attribution.evidence.lanes import CALL_APIS, REQUEST_APIS, TIMED_APIS
from mudra.metrics.attribution.incidents import Incident, track
from mudra.metrics.attribution.state import State, new_state
from mudra.metrics.payload.catalogue import NotificationType

FIRST = 144 * 20_000
LEARNED = FIRST + 30
REQUESTS = slice(0, len(REQUEST_APIS))
FINOT = CALL_APIS.index(NotificationType.FI)
Fault = Callable[[Evidence], None]


def even_window(window: int, aas: int, fips: int, calls: float) -> Evidence:
    """Every AA sends `calls` of each type to every FIP; 1 % fail and 2 % are refused."""
    evidence = empty_evidence(window, aas, fips)
    evidence.total[:] = calls
    evidence.client_errors[:] = calls * 0.02
    evidence.failed[REQUESTS] = calls * 0.01
    evidence.samples[:] = calls
    evidence.percentiles[:] = np.array([300, 800, 1200, 2000], np.float32)
    evidence.samples[len(TIMED_APIS) - 1] = np.ceil(calls * 0.05)
    evidence.statuses[0] = calls * 0.95
    evidence.statuses[1] = calls * 0.05
    evidence.statuses[2] = calls * 0.95
    evidence.statuses[5] = calls * 0.02
    return evidence


@cache
def learned(aas: int = 5, fips: int = 6, calls: float = 40) -> State:
    """A state with thirty even windows behind it."""
    state = new_state(aas, fips)
    for window in range(FIRST, LEARNED):
        state = evaluate_window(even_window(window, aas, fips, calls), state).state
    return state


def failing(share: float, aa: int | None = None, fip: int | None = None,
            api: str | None = None) -> Fault:  # fmt: skip
    """Calls of these cells fail; None means all."""

    def apply(evidence: Evidence) -> None:
        apis = REQUESTS if api is None else CALL_APIS.index(api)
        block = (apis, slice(None) if aa is None else aa, slice(None) if fip is None else fip)
        answered = (evidence.total - evidence.client_errors)[block]
        evidence.failed[block] = np.maximum(evidence.failed[block], share * answered)

    return apply


def only_caller(aa: int, fip: int) -> Fault:
    """No other AA calls this FIP."""

    def apply(evidence: Evidence) -> None:
        others = np.arange(evidence.aas) != aa
        parts = (evidence.total, evidence.failed, evidence.client_errors, evidence.samples,
                 evidence.statuses, evidence.percentiles)  # fmt: skip
        for part in parts:
            part[:, others, fip] = 0

    return apply


def evaluate(
    state: State, faults: Iterable[Fault], windows: int = 1, calls: float = 40
) -> tuple[State, tuple[Cause, ...]]:
    """Judge windows with these faults; the causes are those of the last one."""
    aas, fips = state.previous_requests.shape[1:]
    causes: tuple[Cause, ...] = ()
    for _ in range(windows):
        evidence = even_window(state.window + 1, aas, fips, calls)
        for fault in faults:
            fault(evidence)
        evaluation = evaluate_window(evidence, state)
        state, causes = evaluation.state, evaluation.causes
    return state, causes


def named(causes: Iterable[Cause]) -> set[Locus]:
    """The places of the causes that are not over."""
    return {cause.locus for cause in causes if cause.status is not CauseStatus.RECOVERED}


def incidents_of(story: Iterable[tuple[int, Iterable[Fault]]], state: State | None = None,
                 calls: float = 40) -> tuple[Incident, ...]:  # fmt: skip
    """The incidents of a story: (number of windows, faults during them), one after the other."""
    state = state or learned(calls=calls)
    incidents: tuple[Incident, ...] = ()
    for windows, faults in story:
        for _ in range(windows):
            state, causes = evaluate(state, faults, calls=calls)
            incidents = track(incidents, causes, state.window)
    return incidents
