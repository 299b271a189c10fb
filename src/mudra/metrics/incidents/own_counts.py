"""Counts the calls of a window that are the FIPs' own affair. Loaded in the jobs process only."""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mudra.metrics.attribution.causes.cause import Cause, Kind
from mudra.metrics.attribution.evidence.evidence import Evidence
from mudra.metrics.attribution.evidence.lanes import CALL_APIS, Flags, Symptom, same_api
from mudra.metrics.health.own_calls import Field, OwnCalls, complaint
from mudra.metrics.payload.catalogue import CUSTOMER_CODES
from mudra.metrics.sums.cells import Array

_ROWS: Final = [CALL_APIS.index(code) for code in CUSTOMER_CODES]
_NOT_THE_FIPS: Final = {Kind.AA, Kind.AA_API, Kind.PATH, Kind.NETWORK}


def kept_cells(
    evidence: Evidence, causes: Iterable[Cause], left_out: Sequence[int], apis: Sequence[str]
) -> Flags:
    """Returns API x AA x FIP: without what causes elsewhere explain, and without some AAs."""
    kept = np.broadcast_to(
        evidence.evaluated_cells, (len(apis), evidence.aas, evidence.fips)
    ).copy()
    kept[:, list(left_out)] = False
    for cause in causes:
        if cause.locus.kind in _NOT_THE_FIPS and set(cause.symptoms) != {Symptom.CLIENT_ERRORS}:
            aas = slice(None) if cause.locus.aa < 0 else cause.locus.aa
            fips = slice(None) if cause.locus.fip < 0 else cause.locus.fip
            for place in covered(cause, apis):
                kept[place, aas, fips] = False
    return kept


def covered(cause: Cause, apis: Sequence[str]) -> list[int]:
    """Returns the places of the APIs that a cause is about."""
    of_cause = cause.locus.apis or cause.affected_apis
    return [
        place
        for place, api in enumerate(apis)
        if not of_cause or any(same_api(api, one) for one in of_cause)
    ]


def own_calls(
    evidence: Evidence, fips: tuple[str, ...], causes: Iterable[Cause], left_out: Sequence[int]
) -> OwnCalls:
    """Returns the calls of one window, by the places of FIPs."""
    kept = kept_cells(evidence, causes, left_out, CUSTOMER_CODES)
    total = evidence.total[_ROWS].astype(np.int64)
    mine, refused, failed = (
        part[_ROWS].astype(np.int64) * kept
        for part in (evidence.total, evidence.client_errors, evidence.failed)
    )
    eligible, bad = _with_all(mine - refused), _with_all(failed)
    whole = eligible.sum(1), bad.sum(1)
    worst = complaint(eligible, bad)
    counts = np.stack(
        [
            _with_all(mine).sum(1),
            *whole,
            _with_all(total - mine).sum(1),
            *whole,
            *_without(worst.argmax(1), eligible, bad),
        ]
    )
    assert len(counts) == len(Field)
    return OwnCalls(fips, counts)


def _with_all(by_code: Array) -> Array:
    return np.concatenate([by_code, by_code.sum(0, keepdims=True)])


def _without(place: NDArray[np.intp], eligible: Array, bad: Array) -> list[Array]:
    """Leaves one AA out, where there is another one with calls."""
    many = (eligible > 0).sum(1) > 1
    return [
        part.sum(1) - np.where(many, np.take_along_axis(part, place[:, None], 1)[:, 0], 0)
        for part in (eligible, bad)
    ]
