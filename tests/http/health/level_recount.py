"""The numbers of a month's reports, counted from the payloads that were pushed, call by call.

It shares no code with the service: plain loops over JSON and over what is known to have happened.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any, NamedTuple

from tests.http.health.level_year import CALLS, ENDED, READY, TEN, Happened, YearNetwork
from tests.support.metrics.recounted import CUSTOMERS
from tests.unit.levels.recount import Event, Result, Seen, World, bounds, fate, quantile, recount

REQUESTS = "req-fipMetrics-aa"
TARGETS = {
    "FIP": {"availability": "99.5", "success": "95", "p95": "10000", "p99": "30000",
            "timeToData": "600000", "endedInData": "90"},
    "AA": {"availability": "99.5", "missingReports": "1"},
    "": {},
}  # fmt: skip
"""Those of docs/explanation/service-levels.md."""
Numbers = dict[tuple[str, str], dict[str, Any]]


class Row(NamedTuple):
    """A block of a payload."""

    window: int
    aa: str
    fip: str
    api: str
    counts: list[int]
    status: list[int]
    ms: int


@dataclass
class Month:
    """What was pushed of a month, and what happened in it."""

    network: YearNetwork
    start: datetime
    end: datetime
    expected: int
    """Reports that each AA owed."""
    decided: list[Happened]

    @property
    def windows(self) -> int:
        return int((self.end - self.start) / TEN)

    def rows(self) -> Iterator[Row]:
        for (aa, _, window), sent in self.network.pushed.items():
            if not self.start <= window < self.end:
                continue
            place = int((window - self.start) / TEN)
            for fip in sent["fips"]:
                for one in fip["metrics"]:
                    pxx, status = one.get("pxx", [0]), one.get("status", [])
                    yield Row(place, aa, fip["fipId"], one["type"], one["counts"], status, pxx[0])

    def received(self, aa: str = "") -> int:
        found = (key for key in self.network.pushed if aa in {"", key[0]})
        return sum(self.start <= window < self.end for _, _, window in found)

    def reported(self) -> set[int]:
        keys = self.network.pushed
        inside = (at for _, tag, at in keys if tag == REQUESTS and self.start <= at < self.end)
        return {int((at - self.start) / TEN) for at in inside}

    def events(self) -> Iterator[Happened]:
        for one in (*self.network.happened, *self.decided):
            if self.start <= one.begin < self.end:
                yield one

    def of_fip(self, fip_id: str) -> Numbers:
        rows = [one for one in self.rows() if one.fip == fip_id]
        events = [one.at(self.start) for one in self.events() if one.fip in {"", fip_id}]
        seen = [(one.aa, one) for one in rows]
        return numbers("FIP", self._world(seen, events), seen, {})

    def of_aa(self, aa_id: str) -> Numbers:
        rows = [one for one in self.rows() if one.aa == aa_id]
        own = [one for one in self.events() if one.kind == "aa" and one.aa == aa_id]
        events = [Event("fip", *(one.at(self.start).first, one.at(self.start).end)) for one in own]
        seen = [(one.fip, one) for one in rows]
        missing = (self.expected - self.received(aa_id), self.expected)
        return numbers("AA", self._world(seen, events), seen, {"reporters": 1, "missing": missing})

    def of_network(self) -> Numbers:
        seen = [(f"{one.aa} {one.fip}", one) for one in self.rows()]
        aas = {one.aa for one in self.rows()}
        expected = self.expected * len(self.network.aas)
        more = {"reporters": len(aas), "missing": (expected - self.received(), expected)}
        return numbers("", self._world(seen, []), seen, more)

    def _world(self, seen: Iterable[tuple[str, Row]], events: list[Event]) -> World:
        found = {(one.window, peer, one.api): _seen(one) for peer, one in seen}
        return World(self.windows, found, events, self.reported())


def _seen(one: Row) -> Seen:
    good, refused, broken = one.counts[1], sum(one.counts[2:10]), sum(one.counts[10:])
    silent = one.counts[0] - good - refused - broken
    cells = [] if one.api == ENDED else [_cell(one.ms)] * (good + refused + broken)
    return Seen(good, refused, broken, silent, cells)


def _cell(ms: int) -> int:
    cell = 0
    while bounds(cell)[1] <= ms:
        cell += 1
    return cell


def numbers(role: str, world: World, seen: list[tuple[str, Row]], more: dict[str, Any]) -> Numbers:
    """Every number of every figure, by measure and API."""
    found: Numbers = {}
    apis = {"": CUSTOMERS, **{one: (one,) for one in CALLS}}
    for api, of in apis.items():
        sums, out = recount(world, of), _left_out(world, seen, of)
        ways = more.get("reporters") or len({peer for peer, one in seen if one.api in of})
        common = {"reporters": ways, "leftOut": out, "uncertain": sums.doubt}
        if role:
            up = (sums.eligible - sums.lost, sums.eligible)
            found["availability", api] = _share(up) | common | _time(world, of)
        found["success", api] = _share((sums.good, sums.eligible)) | common
        if api:
            for name, percent in (("p95", 95), ("p99", 99)):
                found[name, api] = _value(sums, percent, seen, api) | common
    ready, ended = recount(world, (READY,)), _ended(world, seen)
    for name, api, made in (
        ("timeToData", READY, _value(ready, 95, seen, READY)),
        ("endedInData", ENDED, _share(ended)),
    ):
        ways = more.get("reporters") or len({peer for peer, one in seen if one.api == api})
        out = _left_out(world, seen, (api,))
        common = {"reporters": ways, "leftOut": out, "uncertain": recount(world, (api,)).doubt}
        found[name, ""] = made | common
    if "missing" in more:
        found["missingReports", ""] = _share(more["missing"]) | dict.fromkeys(
            ("reporters", "leftOut", "uncertain"), 0
        )
    return {
        (name, api): {"downWindows": 0, "windows": 0}
        | one
        | _judged(one, name, None if api == "hbt" else TARGETS[role].get(name))
        for (name, api), one in found.items()
    }


def _share(of: tuple[int, int]) -> dict[str, Any]:
    part, whole = of
    value = 1_000_000 * part // whole / 10_000 if whole else None
    return {"value": value, "part": part, "whole": whole}


def _value(sums: Result, percent: int, seen: list[tuple[str, Row]], api: str) -> dict[str, Any]:
    longest = max([0, *(one.ms for _, one in seen if one.api == api)])
    value = quantile(sums.cells, percent, longest)
    return {"value": value, "part": len(sums.cells), "whole": len(sums.cells)}


def _left_out(world: World, seen: list[tuple[str, Row]], apis: Iterable[str]) -> int:
    found = 0
    for peer, one in seen:
        if one.api in apis:
            what = fate(world, one.window, peer, one.api)
            failed = one.counts[0] - sum(one.counts[1:10])
            found += {"out": one.counts[0], "doubt": one.counts[0], "excused": failed}.get(what, 0)
    return found


def _ended(world: World, seen: list[tuple[str, Row]]) -> tuple[int, int]:
    """FI requests that ended in data, and all that ended."""
    data = whole = 0
    for peer, one in seen:
        if one.api == ENDED and fate(world, one.window, peer, ENDED) not in {"out", "doubt"}:
            data += one.status[0]
            whole += one.status[0] + one.status[1]
    return data, whole


def _time(world: World, apis: Iterable[str]) -> dict[str, int]:
    """Windows of outages of all peers, and reported ones that are not maintenance."""
    everywhere = [one for one in world.events if one.kind not in {"path", "aa"}]
    alone = World(world.windows, {}, everywhere, world.reported)
    down = planned = 0
    for window in world.reported:
        down += "lost" in {fate(alone, window, "", api) for api in apis}
        here = {
            one.kind
            for one in everywhere
            if one.first <= window < one.end and (one.kind != "maintenance" or one.notice.days)
        }
        planned += "maintenance" in here and "left_out" not in here
    return {"downWindows": down, "windows": len(world.reported) - planned}


def _judged(one: dict[str, Any], name: str, target: str | None) -> dict[str, Any]:
    if target is None:
        return {"target": None, "met": None, "budget": None}
    wanted, value = Fraction(target), one["value"]
    if name in {"p95", "p99", "timeToData"}:
        met = None if value is None else value <= wanted
        return {"target": float(target), "met": met, "budget": None}
    at_most = name == "missingReports"
    percent = Fraction(100 * one["part"], one["whole"])
    failed = one["part"] if at_most else one["whole"] - one["part"]
    allowed = int(one["whole"] * (wanted if at_most else 100 - wanted) / 100)
    spent = 10_000 * failed // allowed / 100 if allowed else None
    return {
        "target": float(target),
        "met": percent <= wanted if at_most else percent >= wanted,
        "budget": {"allowed": allowed, "spent": failed, "spentPercent": spent},
    }
