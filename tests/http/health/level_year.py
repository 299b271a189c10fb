"""A small network of which everything that is pushed is kept, and what was wrong is known.

A month has an outage, a broken path, an AA that is down, maintenance that was announced in time and
too late, reports that come late, one that lied until it was replaced, and two disputes.
"""

import json
import random
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
from tests.support.alarm_network import as_entity
from tests.support.metrics.health_network import (
    Fault,
    HealthNetwork,
    at_aa,
    at_fip,
    on_path,
)
from tests.support.metrics.metrics_push import PushingAa, receive_at_once
from tests.support.people.operators import with_token
from tests.unit.levels.recount import Event

from mudra.metrics.payload.report import Report

TEN = timedelta(minutes=10)
DAY = timedelta(days=1)
INDIA = ZoneInfo("Asia/Kolkata")
CALLS = ("cns", "fireq", "fif", "hbt")
READY, ENDED = "sfireqnot", "finot"
LAST_DAYS = 3
"""What happens in a month happens on two of its last days: a report is late for a week at most."""
_USUAL = 4


@dataclass
class Happened:
    """What was wrong, as it is known without the service; `fip` is empty for all."""

    kind: str
    begin: datetime
    end: datetime
    fip: str = ""
    aa: str = ""
    api: str = ""
    notice: timedelta = 2 * DAY

    def at(self, start: datetime) -> Event:
        """The same by the number of its windows."""
        first, end = (int((one - start) / TEN) for one in (self.begin, self.end))
        return Event(self.kind, first, end, self.aa, self.api, self.notice)


@dataclass
class YearNetwork(HealthNetwork):
    """Keeps each payload as JSON, by AA, tag and window: the last one that was pushed."""

    dice: random.Random = field(default_factory=random.Random)
    pushed: dict[tuple[str, str, datetime], dict[str, Any]] = field(default_factory=dict)
    happened: list[Happened] = field(default_factory=list)
    withheld: list[Report] = field(default_factory=list)
    """Reports that come after the month."""

    @classmethod
    def of(cls, network: HealthNetwork, seed: int) -> "YearNetwork":
        known = {one.name: getattr(network, one.name) for one in fields(network)}
        return cls(**known, dice=random.Random(seed))

    def push(self, *reports: Report) -> None:
        """Push these, and keep them."""
        receive_at_once(self.service, reports)
        for one in reports:
            sent = json.loads(msgspec.json.encode(one))
            window = datetime.fromisoformat(sent["fromDateTime"])
            self.pushed[sent["aaId"], sent["tag"], window] = sent

    def _store(
        self,
        window: datetime,
        called: Iterable[tuple[PushingAa, Iterable[str]]],
        faults: Iterable[Fault],
    ) -> None:
        self.push(
            *(one for aa, fips in called for one in self.of_aa(aa, window, list(fips), [*faults]))
        )

    def of_aa(
        self, aa: PushingAa, window: datetime, fips: list[str], faults: list[Fault]
    ) -> tuple[Report, Report]:
        """Both payloads of a window; all calls of a block take the same time, so that it is known."""
        requests, notified = (
            json.loads(msgspec.json.encode(one))
            for one in (aa.requests(window, fips=0), aa.notifications(window, fips=0))
        )
        for fip in fips:
            blocks = []
            for code in CALLS:
                here = [one for one in faults if one.where(aa.aa_id, fip, code)]
                blocks.append(self._block(code, max([0.0, *(one.failing for one in here)])))
            ready = self.dice.randint(20, 60)
            blocks.append({"type": READY, "pxx": [self.dice.randint(9_000, 90_000)] * 4,
                           "counts": [ready, ready, *[0] * 13]})  # fmt: skip
            requests["fips"].append({"fipId": fip, "metrics": blocks})
            ended, lost = self.dice.randint(20, 60), self.dice.randint(0, 2)
            status = [ended, lost, ended, 0, 0, lost, 0]
            block = {"type": ENDED, "counts": [ended + lost, ended + lost, *[0] * 13],
                     "status": status}  # fmt: skip
            notified["fips"].append({"fipId": fip, "metrics": [block]})
        return (
            msgspec.json.decode(json.dumps(requests), type=Report),
            msgspec.json.decode(json.dumps(notified), type=Report),
        )

    def _block(self, code: str, failing: float) -> dict[str, Any]:
        calls = self.dice.randint(90, 130)
        broken = round(calls * failing) or self.dice.randint(0, 1)
        refused = self.dice.randint(0, min(3, calls - broken))
        unanswered = self.dice.randint(0, min(1, broken))
        counts = [0] * 15
        counts[0], counts[1], counts[2] = calls, calls - broken - refused, refused
        counts[12] = broken - unanswered
        answered = calls - unanswered
        pxx = [self.dice.randint(150, 900) if answered else 0] * 4
        size = {"sumOfSizeOfDataPackets": "1000"} if code == "fif" else {}
        return {"type": code, "pxx": pxx, "counts": counts, **size}

    def pass_wrong(
        self, number: int, kind: str, fault: Fault, *, fip: str = "", aa: str = "", api: str = ""
    ) -> None:
        """Let windows pass in which something is wrong, and usual ones after them."""
        begin = self._next()
        self.windows(number, fault)
        self.happened.append(Happened(kind, begin, self._next(), fip, aa, api))
        self.windows(_USUAL)

    def pass_maintenance(self, fip: int, kept: timedelta) -> None:
        """Announce maintenance of a FIP, and let its windows pass with most calls failing."""
        bank, begins = self.fips[fip], self._now() + kept
        begins -= begins - begins.replace(minute=begins.minute // 10 * 10, second=0, microsecond=0)
        begins += TEN
        ends = begins + 3 * TEN
        sent = {"begins": begins.isoformat(), "ends": ends.isoformat(), "reason": "new disks"}
        answer = bank.client.post(
            f"{self.service.root}/metrics/perf/v1/maintenance", json=sent, headers=as_entity(bank)
        )
        assert answer.status_code == 200, answer.text
        self.happened.append(Happened("maintenance", begins, ends, fip=bank.entity_id, notice=kept))

    def pass_month(self) -> None:
        """Let what is wrong in a month happen, up to the end of its last but one day."""
        now = self._now().astimezone(INDIA)
        following = (now.replace(day=1, hour=12, minute=0) + 32 * DAY).replace(day=1)
        if following - LAST_DAYS * DAY <= now:
            following = (following + 32 * DAY).replace(day=1)
        self._go_to(following - LAST_DAYS * DAY)
        fips, aas = [one.entity_id for one in self.fips], [one.aa_id for one in self.aas]
        self.noc = with_token(self.service, self.noc.email)
        for bank in self.fips:  # a secret expires after half a year, as a sign-in does
            assert bank.reset(bank.sign_in()).status_code == 200
        self.windows(_USUAL + 2)
        dice = self.dice
        self.pass_wrong(dice.randint(3, 5), "fip-api",
                        at_fip(fips[0], "fireq", failing=0.6), fip=fips[0], api="fireq")  # fmt: skip
        self.pass_wrong(dice.randint(3, 5), "path",
                        on_path(aas[1], fips[0], failing=0.7), fip=fips[0], aa=aas[1])  # fmt: skip
        self.pass_wrong(dice.randint(3, 5), "aa", at_aa(aas[2], failing=0.8), aa=aas[2])
        self.pass_maintenance(1, DAY + timedelta(hours=1))
        self._go_to(self.happened[-1].begin - 5 * TEN)
        self.windows(_USUAL)
        self.pass_maintenance(2, timedelta())
        for begins in sorted({one.begin for one in self.happened[-2:]}):
            while self._next() < begins + 4 * TEN:
                here = [one for one in self.happened[-2:] if one.begin <= self._next() < one.end]
                self.windows(1, *(at_fip(one.fip, failing=0.8) for one in here))
        self.windows(2)
        self._withhold(aas[3])
        self._lie()
        self.settled()

    def _withhold(self, aa_id: str) -> None:
        """Let windows pass of which an AA reports only after the month."""
        self.silent.add(aa_id)
        begin = self._next()
        self.windows(2)
        self.silent.remove(aa_id)
        (aa,) = [one for one in self.aas if one.aa_id == aa_id]
        fips = [one.entity_id for one in self.fips]
        while begin < self._next():
            self.withheld += self.of_aa(aa, begin, fips, [])
            begin += TEN
        self.windows(_USUAL)

    def _lie(self) -> None:
        """Let an AA report calls that never were; the truth comes after the month."""
        assert self.reported_to is not None
        fips = [one.entity_id for one in self.fips]
        lie, _ = self.of_aa(self.aas[0], self.reported_to, fips, [])
        for fip in (sent := json.loads(msgspec.json.encode(lie)))["fips"]:
            fip["metrics"][0]["counts"][0] += 100
            fip["metrics"][0]["counts"][1] += 100
        self.push(msgspec.json.decode(json.dumps(sent), type=Report))
        truth, _ = self.of_aa(self.aas[0], self.reported_to, fips, [])
        self.withheld.append(truth)

    def push_late(self) -> None:
        """Push what was withheld."""
        self.push(*self.withheld)
        self.withheld.clear()

    def end_month(self) -> None:
        """Go to the morning of the first of the next month, in India."""
        now = self._now().astimezone(INDIA)
        self._go_to((now.replace(day=1, hour=7, minute=0) + 32 * DAY).replace(day=1))

    def _go_to(self, moment: datetime) -> None:
        seconds = int((moment - self._now()).total_seconds())
        self.reported_to = None
        self.service.advance(f"PT{seconds}S")

    def _now(self) -> datetime:
        return self.service.advance("PT0S")

    def _next(self) -> datetime:
        """The first window that is not reported yet."""
        assert self.reported_to is not None
        return self.reported_to + TEN
