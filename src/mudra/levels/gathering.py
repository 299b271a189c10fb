"""Gathers the evidence of a member's report in the caller's transaction."""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise, repeat
from typing import Final, NamedTuple

import numpy as np
from msgspec import Struct, structs

from mudra.disputes.correction_store import corrections
from mudra.levels.evidence import Calls, Evidence, MissedReports, Span, TimedCalls
from mudra.levels.occasions import Occasions
from mudra.levels.spans import MaintenanceRule, Member, segments_of, spans_of
from mudra.levels.target import Target
from mudra.metrics.payload.catalogue import WINDOW, NotificationType, window_number
from mudra.metrics.ports import RollupQueries
from mudra.metrics.rollup.coverage import Coverage, TimeRange
from mudra.metrics.sums.cells import APIS, COUNTS, STATUSES, Array, Cells
from mudra.metrics.sums.totals import Totals
from mudra.shared.entity_type import EntityType
from mudra.storage.database.transaction import Transaction

_LONG: Final = timedelta(hours=6)
_DAY: Final = timedelta(days=1)
_FINOT: Final = NotificationType.FI.value


def calls_of(totals: Totals, peer: str = "") -> Iterator[Calls]:
    """Yields the calls of each row, in order of peer and API; `peer` is its key, empty for none.

    By their IDs: the numbers of these follow from what was read first in the transaction.
    """
    cells, ids = totals.sums, totals.ids
    of = cells.keys[peer] if peer else np.zeros(len(cells), np.int64)
    cells = cells.chosen(np.lexsort((cells.keys["type"], _rank(of, ids)[of])))
    peers = map(ids.__getitem__, cells.keys[peer].tolist()) if peer else repeat("", len(cells))
    apis = [APIS[place] for place in cells.keys["type"].tolist()]
    columns = zip(*(cells.of(name).tolist() for name in COUNTS), strict=True)
    found = zip(*(cells.of(name).tolist() for name in STATUSES), strict=True)
    statuses = (one if api == _FINOT else () for api, one in zip(apis, found, strict=True))
    yield from map(Calls, peers, apis, columns, statuses, cells.longest.tolist(), _times(cells))


def _rank(places: Array, ids: Sequence[str]) -> Array:
    """Returns the rank of each of these places by its ID."""
    order = sorted(np.unique(places).tolist(), key=ids.__getitem__)
    rank = np.zeros(len(ids), np.int64)
    rank[order] = np.arange(len(order))
    return rank


def _within(calls: Calls, within: TimeRange) -> TimedCalls:
    return TimedCalls(*structs.astuple(calls), at=within.start, until=within.end)


def _by_fip(totals: Totals) -> dict[str, Totals]:
    """Returns the rows of each FIP."""
    return {totals.ids[place]: of_fip for place, of_fip in _by(totals, "fip").items()}


def _by(totals: Totals, key: str) -> dict[int, Totals]:
    """Returns the rows of each value of a key, as views of the same columns."""
    cells = totals.cells.chosen(np.argsort(totals.cells.keys[key], kind="stable"))
    values, first = np.unique(cells.keys[key], return_index=True)
    spans = pairwise([*first.tolist(), len(cells)])
    return {
        value: Totals(cells.part(*span), totals.ids)
        for value, span in zip(values.tolist(), spans, strict=True)
    }


def _times(cells: Cells) -> Iterator[tuple[tuple[int, int], ...]]:
    if cells.rises is None:
        yield from repeat((), len(cells))
        return
    width, place, calls = cells.rises
    every = [*zip(place.tolist(), calls.tolist(), strict=True)]
    for start, stop in pairwise([0, *np.cumsum(width).tolist()]):
        yield tuple(every[start:stop])


class Network(Struct, frozen=True):
    """Facts that the reports of all members of a period share."""

    within: TimeRange
    occasions: Occasions
    reported: frozenset[datetime]
    coverage: Coverage
    rule: MaintenanceRule
    targets: Sequence[Target]
    """Those of the first day."""

    def missed(self, member: Member) -> MissedReports:
        """Returns expected and received reports: an AA's own, else those of all."""
        proof = self.coverage.proof(member.entity_id if member.role is EntityType.AA else "")
        return MissedReports(
            proof.windows_expected,
            proof.windows_received,
            proof.reporters_expected,
            proof.reporters_seen,
        )


class Apart(NamedTuple):
    """The spans of a member's report, and the sums of the times with spans."""

    spans: tuple[Span, ...]
    sums: list[tuple[TimeRange, Totals]]

    def calls(self, member: Member) -> Iterator[TimedCalls]:
        """Yields the calls in the spans, in order of time."""
        for part, totals in sorted(self.sums, key=lambda one: one[0].start):
            yield from _apart_of(member, totals, _here(self.spans, part), part)


class Gathering(Struct, frozen=True):
    """Reads the calls of reports."""

    transaction: Transaction
    sums: RollupQueries
    times: bool = True
    """With response times; a budget is of shares alone, and needs none."""

    async def evidence(self, member: Member, network: Network) -> Evidence:
        """Returns the evidence of a report."""
        calls = await self.whole(member, network.within)
        apart = await self.apart([member], network)
        return await asyncio.to_thread(evidence_of, member, network, calls, apart[member.entity_id])

    async def apart(self, members: Sequence[Member], network: Network) -> Mapping[str, Apart]:
        """Returns the spans of each member and their calls: read once for all FIPs of a time."""
        within, known = network.within, network.occasions
        ids = [one.entity_id for one in members]
        decided = await corrections(self.transaction, ids, within.start, within.end)
        spans = {
            one.entity_id: spans_of(
                one,
                within,
                known.incidents_of(one),
                known.maintenances_of(one),
                decided.get(one.entity_id, ()),
                network.rule,
            )
            for one in members
        }
        found = {entity_id: Apart(of_one, []) for entity_id, of_one in spans.items()}
        short = defaultdict[str | None, dict[str, list[TimeRange]]](dict)
        for asked, concerned in _asked(members, spans):
            if concerned[0].role is EntityType.FIP and _is_short(asked.part):
                for one in concerned:
                    short[asked.aa_id].setdefault(one.entity_id, []).append(asked.part)
            else:
                await self._add(found, asked, concerned)
        for aa_id, times in short.items():
            await self._add_short(found, aa_id, times)
        return found

    async def _add(
        self, found: Mapping[str, Apart], asked: "_Asked", concerned: Sequence[Member]
    ) -> None:
        fip_ids = asked.fip_ids(concerned)
        totals = await self._of_pairs(asked.part, aa_id=asked.aa_id, fip_ids=fip_ids)
        each = _by_fip(totals) if concerned[0].role is EntityType.FIP else None
        for one in concerned:
            of_one = totals if each is None else each.get(one.entity_id)
            if of_one is not None:
                found[one.entity_id].sums.append((asked.part, of_one))

    async def _add_short(
        self,
        found: Mapping[str, Apart],
        aa_id: str | None,
        times: Mapping[str, Sequence[TimeRange]],
    ) -> None:
        totals = await self.sums.of_times(times, aa_id=aa_id, with_times=self.times)
        for fip_id, of_fip in _by_fip(totals).items():
            each = _by(of_fip, "at")
            parts = {window_number(part.first): part for part in times[fip_id]}
            found[fip_id].sums.extend((parts[at], of_part) for at, of_part in each.items())

    async def of_fips(self, within: TimeRange, members: Iterable[Member]) -> Mapping[str, Totals]:
        """Returns the calls of each of these FIPs that has any."""
        fip_ids = [one.entity_id for one in members]
        return _by_fip(await self._of_pairs(within, fip_ids=fip_ids))

    async def days(self, member: Member, within: TimeRange) -> Sequence[TimedCalls]:
        """Returns the calls of each day (UTC) of a period."""
        found: list[TimedCalls] = []
        start = within.start
        while start < within.end:
            end = min(within.end, start.replace(hour=0, minute=0) + _DAY)
            part = TimeRange(start, end)
            found += [_within(one, part) for one in await self.whole(member, part)]
            start = end
        return found

    async def whole(self, member: Member, within: TimeRange) -> Sequence[Calls]:
        """Returns the calls of a period: of a FIP by AA, else over all FIPs."""
        if member.role is EntityType.FIP:
            totals = await self._of_pairs(within, fip_ids=[member.entity_id])
            return await asyncio.to_thread(lambda: [*calls_of(totals, "aa")])
        aa_id = member.entity_id if member.role is EntityType.AA else None
        totals = await self.sums.of_aas(within, aa_id=aa_id)
        # How much each AA calls is for no other member to see: the network's are together.
        return await asyncio.to_thread(lambda: [*calls_of(totals.by("type"))])

    async def _of_pairs(
        self,
        within: TimeRange,
        *,
        aa_id: str | None = None,
        fip_ids: Collection[str] | None = None,
    ) -> Totals:
        return await self.sums.of_pairs(within, aa_id=aa_id, fip_ids=fip_ids, times=self.times)


class _Asked(NamedTuple):
    """The calls of a time that are read together: of FIPs, or of an AA."""

    part: TimeRange
    aa_id: str | None
    """None for all."""
    fip_id: str | None
    """That of an AA's question; None for all, or for the FIPs whose reports they are for."""

    def fip_ids(self, concerned: Sequence[Member]) -> Collection[str] | None:
        """Returns the FIPs whose calls are read; None for all."""
        if concerned[0].role is EntityType.FIP:
            return [one.entity_id for one in concerned]
        return None if self.fip_id is None else [self.fip_id]


def evidence_of(member: Member, network: Network, calls: Iterable[Calls], apart: Apart) -> Evidence:
    """Returns the evidence of a report from the calls of its period, and its spans with theirs."""
    return Evidence(
        tuple(calls),
        tuple(apart.calls(member)),
        apart.spans,
        len(network.reported),
        tuple(_silent(apart.spans, network.reported)),
        network.missed(member),
    )


def _asked(
    members: Iterable[Member], spans: Mapping[str, Sequence[Span]]
) -> Sequence[tuple[_Asked, Sequence[Member]]]:
    """Returns what is read, and for which members, in order of time."""
    found = defaultdict[_Asked, list[Member]](list)
    for member in members:
        of_one = spans[member.entity_id]
        for part in segments_of(of_one):
            here = _here(of_one, part)
            peers = {peer for one in here for peer in one.peers}
            one_peer = peers.pop() if len(peers) == 1 and all(one.peers for one in here) else None
            is_fip = member.role is EntityType.FIP
            ids = (one_peer, None) if is_fip else (member.entity_id, one_peer)
            found[_Asked(part, *ids)].append(member)
    return sorted(found.items(), key=lambda one: one[0].part.start)


def _here(spans: Iterable[Span], part: TimeRange) -> Sequence[Span]:
    return [one for one in spans if one.start < part.end and one.end > part.start]


def _is_short(part: TimeRange) -> bool:
    """Returns whether hours and windows are all that it is read from: none longer is in it."""
    return part.end - part.start < _LONG


def _apart_of(
    member: Member, totals: Totals, here: Sequence[Span], part: TimeRange
) -> Iterator[TimedCalls]:
    """Yields the calls of a time that are in spans, by peer and API.

    Of an AA, the calls to all FIPs that no span names are one row: it has two thousand FIPs.
    """
    peer = "aa"
    if member.role is EntityType.AA:
        totals = _unnamed_together(totals, {named for one in here for named in one.peers})
        peer = "fip"
    found = [one for one in calls_of(totals, peer) if _is_apart(here, one.peer_id, one.api)]
    yield from (_within(one, part) for one in sorted(found, key=lambda one: (one.peer_id, one.api)))


def _unnamed_together(totals: Totals, named: Collection[str]) -> Totals:
    """Returns the sums of each of these FIPs, and of all others as one without a name."""
    of_named = [place for place, fip_id in enumerate(totals.ids) if fip_id in named]
    fip = totals.cells.keys["fip"]
    keys = {**totals.cells.keys, "fip": np.where(np.isin(fip, of_named), fip, len(totals.ids))}
    return Totals(replace(totals.cells, keys=keys), [*totals.ids, ""]).by("fip", "type")


def _is_apart(spans: Iterable[Span], peer_id: str, api: str) -> bool:
    return any(one.covers(one.start, peer_id, api) for one in spans)


def _silent(spans: Iterable[Span], reported: frozenset[datetime]) -> list[datetime]:
    windows = set[datetime]()
    for span in spans:
        at = span.start
        while at < span.end:
            windows.add(at)
            at += WINDOW
    return sorted(windows - reported)
