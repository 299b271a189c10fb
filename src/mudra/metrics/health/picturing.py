"""Makes the picture of the network from columns of sums, without a Python step for each cell."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from mudra.metrics.health.fip_health import REQUESTS_SHOWN, FipHealth
from mudra.metrics.health.health import NO_OUTCOMES, Disputed, FiOutcomes, Health
from mudra.metrics.health.judging import (
    eligible,
    health_of,
    judged,
    outcomes_of,
    statuses,
    succeeded,
)
from mudra.metrics.health.picture import (
    ApiPicture,
    CellDetails,
    Grouping,
    Matrix,
    Row,
    Subject,
    Verdict,
)
from mudra.metrics.incidents.explanation import ends_of, of_api
from mudra.metrics.incidents.incident import StoredIncident
from mudra.metrics.payload.catalogue import TIMING_CODES, NotificationType, RequestType, Tag
from mudra.metrics.rollup.coverage import Coverage
from mudra.metrics.rollup.series import health_of_all
from mudra.metrics.sums.cells import Array, type_place
from mudra.metrics.sums.rollup import ResponseTime
from mudra.metrics.sums.totals import Totals

_NONE_DISPUTED: Final[Disputed] = MappingProxyType({})
_KEYS: Final = {
    Grouping.NETWORK: ("type",),
    Grouping.FIP: ("type", "fip"),
    Grouping.AA: ("type", "aa"),
    Grouping.PAIR: ("type", "aa", "fip"),
}
_TIMINGS: Final = sorted(type_place(Tag.REQUESTS, code) for code in TIMING_CODES)
_FETCH: Final = type_place(Tag.REQUESTS, RequestType.FI_FETCH)
_OUTCOMES: Final = type_place(Tag.NOTIFICATIONS, NotificationType.FI)


def picture(
    totals: Totals, grouping: Grouping, coverage: Coverage, disputed: Disputed = _NONE_DISPUTED
) -> tuple[Row, ...]:
    """Returns the rows of a picture, in order of AA and FIP.

    Where an API over several AAs is disputed, its status is what most AAs see. Its sums stay. The
    times of one window of a pair are as reported.
    """
    as_reported = grouping is Grouping.PAIR and totals.are_reports
    found = totals if as_reported else totals.by(*_KEYS[grouping])
    order = _order(found)
    apis = _apis(found)
    in_order = [apis[place] for place in order.tolist()]
    aa, fip = (found.cells.keys[name][order] for name in ("aa", "fip"))
    begins = np.flatnonzero(np.diff(aa, prepend=-1) | np.diff(fip, prepend=-1))
    ends = [*begins.tolist(), len(order)][1:]
    ids, proof = found.ids, cache(coverage.proof)
    subjects = [
        Subject(ids[one], ids[other])
        for one, other in zip(aa[begins].tolist(), fip[begins].tolist(), strict=True)
    ]
    return tuple(
        Row(subject, _weighed(tuple(in_order[start:end]), subject, disputed), proof(subject.aa_id))
        for subject, start, end in zip(subjects, begins.tolist(), ends, strict=True)
    )


def _order(totals: Totals) -> Array:
    """Returns the places of the rows in order of AA, FIP and type."""
    ids, keys = totals.ids, totals.cells.keys
    rank = np.empty(len(ids), np.int64)
    rank[sorted(range(len(ids)), key=ids.__getitem__)] = np.arange(len(ids))
    return np.lexsort((keys["type"], rank[keys["fip"]], rank[keys["aa"]]))


def _weighed(
    apis: tuple[ApiPicture, ...], subject: Subject, disputed: Disputed
) -> tuple[ApiPicture, ...]:
    if subject.aa_id or not disputed:
        return apis
    return tuple(
        replace(
            api,
            health=replace(
                api.health, status=weighed.status, certain=False, outvoted=weighed.outvoted
            ),
        )
        if api.health
        and api.tag is Tag.REQUESTS
        and (weighed := disputed.get((subject.fip_id, api.type)))
        else api
        for api in apis
    )


def _apis(totals: Totals) -> list[ApiPicture]:
    cells, places = totals.cells, totals.cells.keys["type"]
    every = health_of(totals)
    health: list[Health | None] = [*every]
    for row in np.flatnonzero(np.isin(places, _TIMINGS)).tolist():
        health[row] = None
    sizes: list[int | None] = [None] * len(cells)
    fetches = np.flatnonzero(places == _FETCH)
    for row, size in zip(fetches.tolist(), cells.of("size")[fetches].tolist(), strict=True):
        sizes[row] = size
    outcomes: list[FiOutcomes | None] = [None] * len(cells)
    ended = np.flatnonzero(places == _OUTCOMES)
    of_ended = outcomes_of(cells.without_times().chosen(ended))
    for row, one in zip(ended.tolist(), of_ended, strict=True):
        outcomes[row] = one
    times = [one.time for one in every]
    return [*map(ApiPicture, totals.tags(), totals.codes(), health, times, sizes, outcomes)]


def matrix(calls: Totals, causes: Sequence[StoredIncident], code: str = "") -> Matrix:
    """Returns the matrix over the calls of each pair, with the causes of its time.

    A cell that is bad by its counts alone has no verdict: a few failures are chance. One that
    is good over the whole time has a verdict when a cause hit it within.
    """
    calls = calls.by("aa", "fip")
    calls = Totals(calls.cells.chosen(_order(calls)), calls.ids)
    sums = calls.cells
    cells = tuple(
        map(
            CellDetails,
            calls.aa_ids(),
            calls.fip_ids(),
            statuses(judged(sums)),
            succeeded(sums).tolist(),
            eligible(sums).tolist(),
        )
    )
    return Matrix(cells, tuple(causes), tuple(_verdicts(cells, causes, code)))


def _verdicts(
    cells: Sequence[CellDetails], causes: Sequence[StoredIncident], code: str
) -> Iterator[Verdict]:
    """Yields the cells that show each cause: a nation has 40,000, few of which a cause is about."""
    of_aa, of_fip = (
        defaultdict[str, list[CellDetails]](list),
        defaultdict[str, list[CellDetails]](list),
    )
    for cell in cells:
        of_aa[cell.aa_id].append(cell)
        of_fip[cell.fip_id].append(cell)
    for one in causes:
        ends = ends_of(one.incident) if of_api(one.incident, code) else None
        if ends is None:
            continue
        aa_id, fip_id = ends
        here: Sequence[CellDetails] = cells
        if fip_id is not None:
            here = [cell for cell in of_fip[fip_id] if aa_id in {None, cell.aa_id}]
        elif aa_id is not None:
            here = of_aa[aa_id]
        for cell in here:
            yield Verdict(cell.aa_id, cell.fip_id, one)


def health_of_fips(totals: Totals) -> Mapping[str, FipHealth]:
    """Returns the health of each FIP, of sums over all AAs."""
    apis: dict[str, dict[str, Health]] = defaultdict(dict)
    outcomes: dict[str, FiOutcomes] = {}
    ready: dict[str, ResponseTime | None] = {}
    for fip_id, api in zip(totals.fip_ids(), _apis(totals), strict=True):
        of_fip = apis[fip_id]
        if api.outcomes is not None:
            outcomes[fip_id] = api.outcomes
        elif api.type == RequestType.FI_READY_TIME:
            ready[fip_id] = api.time
        elif api.tag is Tag.REQUESTS and api.type in REQUESTS_SHOWN and api.health is not None:
            of_fip[api.type] = api.health
    return {
        fip_id: FipHealth(of_fip, outcomes.get(fip_id, NO_OUTCOMES), ready.get(fip_id))
        for fip_id, of_fip in apis.items()
    }


class HealthOfSubject(Struct, frozen=True):
    """The health of an AA, a FIP, a pair, or of one API of all: by counterpart, and of all."""

    rows: tuple[Row, ...]
    apis: tuple[ApiPicture, ...]
    whole: Health | None
    """Of all calls, or of those of the requested API."""
    disputed: Disputed
    coverage: Coverage


class Asked(Struct, frozen=True):
    """An AA, a FIP or a pair; without either, one type of request or all."""

    aa_id: str | None
    fip_id: str | None
    code: str


def health_of_subject(
    totals: Totals, asked: Asked, coverage: Coverage, disputed: Disputed
) -> HealthOfSubject:
    """Returns the health of a subject from its sums by AA, type and FIP."""
    of_one_side = (asked.aa_id is None) != (asked.fip_id is None)
    of_all = picture(totals, _itself(asked), coverage, disputed)
    return HealthOfSubject(
        picture(totals, Grouping.PAIR if of_one_side else Grouping.FIP, coverage, disputed),
        of_all[0].apis if of_all else (),
        health_of_all(totals, asked.code),
        disputed,
        coverage,
    )


def _itself(asked: Asked) -> Grouping:
    if asked.aa_id and asked.fip_id:
        return Grouping.PAIR
    return Grouping.FIP if asked.fip_id else Grouping.NETWORK
