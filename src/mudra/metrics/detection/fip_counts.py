"""The calls to each FIP in a window, and the test of the network's rule by the latest windows.

Loaded in the jobs process only.
"""

import zlib
from collections.abc import Iterable, Sequence
from typing import Final, TypeVar

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from mudra.metrics.attribution.causes.cause import Cause, Kind
from mudra.metrics.attribution.evidence.evidence import Evidence
from mudra.metrics.attribution.evidence.lanes import (
    CALL_APIS,
    TIMED_APIS,
    Flags,
    Floats,
    Symptom,
    same_api,
)
from mudra.metrics.attribution.evidence.latency import calls_above
from mudra.metrics.health.health import GOOD_BELOW_MS
from mudra.metrics.health.own_calls import Field, OwnCalls, complaint
from mudra.metrics.payload.catalogue import CUSTOMER_CODES, FEED_APIS, StatusPosition
from mudra.metrics.sums.cells import Array

T = TypeVar("T", np.int64, np.float32)

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


APIS: Final = tuple(one.api for one in FEED_APIS.values())
CALLED: Final = tuple(api for api in APIS if api in TIMED_APIS)
"""All but FI notifications, which are judged by the outcomes of FI requests."""
_CALL_ROWS: Final = [CALL_APIS.index(api) for api in CALLED]
_TIMED_ROWS: Final = [TIMED_APIS.index(api) for api in CALLED]
_LIMIT: Final = 0.05
_HALF: Final = 0.5


class FipCounts(Struct, frozen=True):
    """Counts of one window by API and FIP, three times.

    Over all AAs, without the one that speaks worst of the FIP, and without the one that speaks
    best: so no single AA turns a state.
    """

    fips: tuple[str, ...]
    sums: Floats
    """By field, API of the feed and FIP."""


PARTS: Final = 4
"""Calls, failed, answered, slow."""
ALL, WITHOUT_WORST, WITHOUT_BEST = (slice(at, at + PARTS) for at in (0, PARTS, 2 * PARTS))
REPORTERS: Final = 3 * PARTS
MAINTAINED: Final = REPORTERS + 1
"""1 for a FIP in planned maintenance: nothing of it is counted."""
FIELDS: Final = MAINTAINED + 1


def fip_counts(
    evidence: Evidence, fips: tuple[str, ...], causes: Iterable[Cause], left_out: Sequence[int]
) -> FipCounts:
    """Counts a window, without what causes elsewhere explain and without some AAs."""
    kept = kept_cells(evidence, causes, left_out, APIS)
    calls, failed = _calls(evidence, kept)
    answered, slow = _times(evidence, kept)
    parts = (calls, failed, answered, slow)
    complaint = (failed - _LIMIT * calls) + (slow - _HALF * answered)
    whole = [part.sum(1) for part in parts]
    sums = np.stack(
        [
            *whole,
            *_without(complaint.argmax(1), *parts),
            *_without(complaint.argmin(1), *parts),
            (calls > 0).sum(1),
            np.broadcast_to(evidence.maintained_fips, (len(APIS), evidence.fips)),
        ]
    )
    return FipCounts(fips, sums.astype(np.float32))


def _without(place: NDArray[np.intp], *parts: NDArray[T]) -> list[NDArray[T]]:
    """Leaves one AA out, where there is another one with calls."""
    many = (parts[0] > 0).sum(1) > 1
    return [
        part.sum(1) - np.where(many, np.take_along_axis(part, place[:, None], 1)[:, 0], 0)
        for part in parts
    ]


def _calls(evidence: Evidence, kept: Flags) -> tuple[Floats, Floats]:
    eligible = (evidence.total - evidence.client_errors)[_CALL_ROWS]
    good = evidence.statuses[StatusPosition.SUCCEEDED]
    bad = evidence.statuses[StatusPosition.FAILED]
    calls = np.concatenate([eligible, (good + bad)[None]]) * kept
    failed = np.concatenate([evidence.failed[_CALL_ROWS], bad[None]]) * kept
    return calls, failed


def _times(evidence: Evidence, kept: Flags) -> tuple[Floats, Floats]:
    samples = evidence.samples[_TIMED_ROWS]
    above = calls_above(
        samples, evidence.percentiles[_TIMED_ROWS], np.array(GOOD_BELOW_MS - 0.5, np.float32)
    )
    none = np.zeros((1, *samples.shape[1:]), np.float32)
    return np.concatenate([samples, none]) * kept, np.concatenate([above, none]) * kept


def counts_to_bytes(counts: FipCounts) -> bytes:
    """Packs counts: about a tenth of their size."""
    packed = zlib.compress(counts.sums.astype("<f4").tobytes(), 1)
    return msgspec.msgpack.encode((counts.fips, packed))


def counts_from_bytes(data: bytes) -> FipCounts:
    """Unpacks counts."""
    fips, packed = msgspec.msgpack.decode(data, type=tuple[tuple[str, ...], bytes])
    sums = np.frombuffer(zlib.decompress(packed), "<f4").astype(np.float32)
    return FipCounts(fips, sums.reshape(FIELDS, len(APIS), len(fips)))


def aligned(counts: FipCounts, fips: tuple[str, ...]) -> Floats:
    """Returns the sums in the order of other FIPs; zero for those that were not called."""
    if counts.fips == fips:
        return counts.sums
    places = {fip_id: place for place, fip_id in enumerate(fips)}
    known = [(old, places[fip_id]) for old, fip_id in enumerate(counts.fips) if fip_id in places]
    sums = np.zeros((FIELDS, len(APIS), len(fips)), np.float32)
    if known:
        old, new = zip(*known, strict=True)
        sums[:, :, list(new)] = counts.sums[:, :, list(old)]
    return sums
