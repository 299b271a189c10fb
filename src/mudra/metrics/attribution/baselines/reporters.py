"""The test whether a report is plausible, by the history of its AA and of the other AAs.

An implausible report is left out of verdicts and of baselines; the caller keeps
it and says so. Bounds on how much one AA can say are in `likelihood`.
"""

import enum
from typing import Final

import numpy as np
from msgspec import Struct

from mudra.metrics.attribution.evidence.evidence import WINDOWS_PER_DAY, Evidence
from mudra.metrics.attribution.evidence.lanes import Floats
from mudra.metrics.payload.plausibility import (
    AGAINST_OTHERS,
    ENOUGH_HISTORY,
    GROWTH,
    SMALL,
    UNKNOWN_LIMIT,
)

_KEEP: Final = np.float32(0.5 ** (1 / (7 * WINDOWS_PER_DAY)))


class Doubt(enum.StrEnum):
    """The reason for which a report is left out."""

    CONTRADICTORY = "contradictory"
    """More failures than calls, or percentiles that fall."""
    VOLUME = "volume"
    """Far more calls than ever before, or than any other AA."""


class Implausible(Struct, frozen=True):
    """A report that is left out, with what it claims and what would be plausible."""

    aa: int
    doubt: Doubt
    claimed: float
    limit: float


class ReporterHistory(Struct, frozen=True):
    """Each AA's history: the most calls in a window lately, and how many windows it reported."""

    peak: Floats
    windows: Floats


def new_history(aas: int) -> ReporterHistory:
    """No reports yet."""
    return ReporterHistory(np.zeros(aas, np.float32), np.zeros(aas, np.float32))


def find_implausible(evidence: Evidence, history: ReporterHistory) -> tuple[Implausible, ...]:
    """Reports to leave out of this window."""
    calls = _calls(evidence)
    others = np.median(calls[evidence.reported]) if evidence.reported.any() else 0.0
    known = history.windows >= ENOUGH_HISTORY
    limit = np.where(
        known,
        GROWTH * history.peak + SMALL,
        np.minimum(AGAINST_OTHERS * others + SMALL * GROWTH, UNKNOWN_LIMIT),
    )
    too_large = calls > (np.inf if evidence.volumes_checked else limit)
    contradictory = _contradictory(evidence)
    return tuple(
        Implausible(
            int(aa),
            Doubt.CONTRADICTORY if contradictory[aa] else Doubt.VOLUME,
            float(calls[aa]),
            float(limit[aa]),
        )
        for aa in np.flatnonzero(evidence.reported & (contradictory | too_large))
    )


def learn_history(
    history: ReporterHistory, evidence: Evidence, implausible: tuple[Implausible, ...]
) -> ReporterHistory:
    """Add one window; implausible reports leave no trace."""
    reported = evidence.reported.copy()
    reported[[one.aa for one in implausible]] = False
    calls = np.where(reported, _calls(evidence), 0.0)
    return ReporterHistory(
        np.maximum(history.peak * _KEEP, calls).astype(np.float32),
        (history.windows + reported).astype(np.float32),
    )


def _calls(evidence: Evidence) -> Floats:
    return np.asarray(evidence.total.sum((0, 2)), np.float32)


def _contradictory(evidence: Evidence) -> np.typing.NDArray[np.bool_]:
    parts = evidence.failed + evidence.client_errors
    tolerance = 1e-3 * evidence.total + 0.5
    too_many = (parts > evidence.total + tolerance) | (evidence.total < 0) | (parts < 0)
    falling = np.diff(evidence.percentiles, axis=-1) < 0
    return np.asarray(
        too_many.any((0, 2)) | falling.any((0, 2, 3)) | ~np.isfinite(parts).all((0, 2)), np.bool_
    )
