"""A small network in which every AA reports every window, and what is wrong on request."""

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from statistics import NormalDist
from typing import Any, cast

import msgspec
import sqlalchemy as sa
from tests.support.mailbox import mails
from tests.support.members import Member, new_member
from tests.support.metrics.metrics_push import PushingAa, receive_at_once
from tests.support.people.operators import Operator, new_operator
from tests.support.service import Service

from mudra.bootstrap.dependencies import Dependencies
from mudra.metrics.payload.catalogue import (
    WINDOW,
    NotificationType,
    Position,
    RequestType,
    window_start,
)
from mudra.metrics.payload.report import (
    Counts,
    NotificationBlock,
    NotificationFip,
    NotificationMetrics,
    Percentiles,
    RequestBlock,
    RequestFip,
    RequestMetrics,
)

CLOSE_AFTER = 3
"""Good windows after which an incident is over, for tests that let one be."""
CODES = (RequestType.CONSENT, RequestType.FI_REQUEST, RequestType.FI_FETCH, RequestType.HEARTBEAT)
_USUAL_P50_MS, _SPREAD = 250, 0.7
"""Of the logarithm of times: p95 is 800 ms, p99 1,300. The longest of few calls is sooner."""
_WAKE_EVERY_S = 0.5
_EVALUATED = sa.text(
    "SELECT (SELECT max(window_at) >= :last FROM metrics_attribution) AND NOT EXISTS"
    " (SELECT FROM metrics_stale WHERE grain = 'window' AND aa_id <> '' AND at <= :last)"
)
Where = Callable[[str, str, str], bool]
"""Of an AA, a FIP and a code: whether the fault is there."""


@dataclass(frozen=True)
class Fault:
    """A fault of the calls of some cells."""

    where: Where
    failing: float = 0.0
    refused: float = 0.0
    slower: int = 1
    undelivered: float = 0.0
    """FI requests that end in TIMEOUT."""
    unnotified: bool = False
    """No notification comes."""
    uncalled: bool = False
    """No customer calls: heartbeats are all there is."""


def at_fip(fip_id: str, code: str = "", **what: Any) -> Fault:
    """A fault at a FIP, for all AAs."""
    return Fault(lambda _, fip, type_: fip == fip_id and code in {"", type_}, **what)


def at_aa(aa_id: str, code: str = "", **what: Any) -> Fault:
    """A fault of an AA, at all FIPs."""
    return Fault(lambda aa, _, type_: aa == aa_id and code in {"", type_}, **what)


def on_path(aa_id: str, fip_id: str, **what: Any) -> Fault:
    """A fault between one AA and one FIP."""
    return Fault(lambda aa, fip, _: (aa, fip) == (aa_id, fip_id), **what)


@dataclass
class HealthNetwork:
    """A service with AAs that report, FIPs, and an operator."""

    service: Service
    aas: list[PushingAa]
    admins: dict[str, str]
    """The email address of each member's admin."""
    fips: list[Member]
    noc: Operator
    calls: int = 100
    silent: set[str] = field(default_factory=set)
    reported_to: datetime | None = None
    """The last window that was reported."""

    def early_in_a_window(self, left_s: int = 120) -> None:
        """Go on to the next window unless this one lasts long enough for a test.

        A window that ends in real time is reported ten minutes late, as if all AAs were silent.
        """
        left = WINDOW.total_seconds() - self.service.wall() % WINDOW.total_seconds()
        if left < left_s:
            now = self.service.advance(f"PT{int(left) + 1}S")
            if self.reported_to is not None:
                self._report_closed(now, ())

    def windows(self, number: int, *faults: Fault, fips: Iterable[str] = ()) -> None:
        """Let windows pass, one after the other, with all reports in time."""
        for _ in range(number):
            self._report_closed(self.service.advance("PT10M"), faults, fips)

    def _report_closed(
        self, now: datetime, faults: Iterable[Fault], fips: Iterable[str] = ()
    ) -> None:
        last = window_start(now) - WINDOW
        window = last if self.reported_to is None else self.reported_to + WINDOW
        while window <= last:  # two, if another one closed in real time
            self.report(window, *faults, fips=fips)
            window += WINDOW
        self.reported_to = last

    def report(self, window: datetime, *faults: Fault, fips: Iterable[str] = ()) -> None:
        """Store both payloads of each AA that is not silent."""
        named = list(fips) or [one.entity_id for one in self.fips]
        reporting = [one for one in self.aas if one.aa_id not in self.silent]
        self._store(window, [(aa, named) for aa in reporting], faults)

    def report_of(
        self, window: datetime, own: Mapping[str, Iterable[str]], *faults: Fault,
        fips: Iterable[str],
    ) -> None:  # fmt: skip
        """Store the reports of a window, in which some AAs call FIPs of their own."""
        self._store(window, [(aa, own.get(aa.aa_id, fips)) for aa in self.aas], faults)

    def _store(
        self,
        window: datetime,
        called: Iterable[tuple[PushingAa, Iterable[str]]],
        faults: Iterable[Fault],
    ) -> None:
        receive_at_once(
            self.service,
            [
                made(aa, window, faults, fips, self.calls)
                for aa, fips in called
                for made in (requests_of, notifications_of)
            ],
        )

    def settled(self) -> None:
        """Wait until the last reported window is evaluated, and what came late.

        While an AA is silent a window waits minutes for its report: the clock takes longer steps.
        """

        async def is_evaluated(dependencies: Dependencies) -> bool:
            async with dependencies.database.transaction() as transaction:
                found = await transaction.connection.scalar(_EVALUATED, {"last": self.reported_to})
                return found is True

        step = "PT20S" if self.silent else "PT1S"
        self.in_time(lambda: self.service.in_store(is_evaluated), step)

    def in_time(self, condition: Callable[[], bool], step: str = "PT1S") -> None:
        """Wait for what jobs do one after the other: a step of the clock wakes them, now and then.

        It wakes a dozen of them, whose work takes longer than a look at the condition.
        """
        woken = -math.inf

        def holds() -> bool:
            nonlocal woken
            if condition():
                return True
            if time.monotonic() >= woken + _WAKE_EVERY_S:
                self.service.advance(step)
                woken = time.monotonic()
            return False

        self.service.wait_until(holds)

    def incidents(self, entity_id: str = "", **query: str) -> list[dict[str, Any]]:
        """Incidents, the oldest first; without `entity_id` those of this network's members."""
        answer = self.noc.get("/incidents", entityId=entity_id, **query)
        assert answer.status_code == 200, answer.text
        found = answer.json()["incidents"][::-1]
        own = {one.aa_id for one in self.aas} | {one.entity_id for one in self.fips}
        return [one for one in found if one["entityId"] in own or not one["entityId"]]

    def mails_to(self, address: str) -> list[dict[str, Any]]:
        """Emails to an address, the oldest first."""
        return mails(self.service, address)


def a_network(service: Service, aas: int = 4, fips: int = 4, **options: Any) -> HealthNetwork:
    """A network of new members."""
    made = [new_member(service, "AA") for _ in range(aas)]
    banks = [new_member(service, "FIP") for _ in range(fips)]
    network = HealthNetwork(
        service,
        [reporting(one) for one in made],
        {one.entity_id: one.email for one in (*made, *banks)},
        banks,
        new_operator(service, "health"),
        **options,
    )
    network.early_in_a_window()
    return network


def reporting(member: Member) -> PushingAa:
    """An AA with the token that its agent pushes with."""
    token = member.entity_token(member.secret()).json()["accessToken"]
    return PushingAa(member.service, member.entity_id, token, member.client)


def requests_of(
    aa: PushingAa, window: datetime, faults: Iterable[Fault], fips: Iterable[str], calls: int
) -> RequestMetrics:
    """The calls of one AA to these FIPs, as many of each type."""
    return msgspec.structs.replace(
        aa.requests(window, fips=0),
        fips=tuple(
            RequestFip(
                fip_id,
                tuple(
                    _block(aa.aa_id, fip_id, code.value, faults, calls)
                    for code in CODES
                    if code is RequestType.HEARTBEAT or not _is_uncalled(aa.aa_id, fip_id, faults)
                ),
            )
            for fip_id in fips
        ),
    )


def _is_uncalled(aa_id: str, fip_id: str, faults: Iterable[Fault]) -> bool:
    return any(one.uncalled and one.where(aa_id, fip_id, "") for one in faults)


def _block(aa_id: str, fip_id: str, code: str, faults: Iterable[Fault], calls: int) -> RequestBlock:
    here = [one for one in faults if one.where(aa_id, fip_id, code)]
    failed = round(calls * max([0.01, *(one.failing for one in here)]))
    refused = round(calls * max([0.0, *(one.refused for one in here)]))
    slower = max([1, *(one.slower for one in here)])
    counts = [0] * len(Position)
    counts[Position.TOTAL] = calls
    counts[Position.UNAVAILABLE_503] = failed
    counts[Position.BAD_REQUEST_400] = min(refused, calls - failed)
    counts[Position.OK_200] = calls - failed - counts[Position.BAD_REQUEST_400]
    pxx = cast("Percentiles", tuple(slower * ms for ms in _usual_ms(calls)))
    size = {"sum_of_size_of_data_packets": "1000"} if code == RequestType.FI_FETCH else {}
    return RequestBlock(code, pxx, cast("Counts", tuple(counts)), **size)


@cache
def _usual_ms(calls: int) -> tuple[int, ...]:
    """The percentiles of so many calls, by nearest rank."""
    ranks = [-(-calls * percent // 100) for percent in (95, 99, 100)]
    above = [NormalDist().inv_cdf((rank - 0.5) / calls) for rank in ranks] if calls else []
    later = [round(_USUAL_P50_MS * math.exp(_SPREAD * max(one, 0.0))) for one in above]
    return (_USUAL_P50_MS, *(later or [_USUAL_P50_MS] * len(ranks)))


def notifications_of(
    aa: PushingAa, window: datetime, faults: Iterable[Fault], fips: Iterable[str], calls: int
) -> NotificationMetrics:
    """The final notifications of the FI requests of one AA."""
    found = []
    for fip_id in fips:
        here = [one for one in faults if one.where(aa.aa_id, fip_id, RequestType.FI_REQUEST)]
        if any(one.unnotified or one.uncalled for one in here):
            continue
        failing = max([0.0, *(one.failing for one in here)])
        number = round(calls * (1 - failing))
        lost = round(number * max([0.02, *(one.undelivered for one in here)]))
        counts = [0] * len(Position)
        counts[Position.TOTAL] = counts[Position.OK_200] = number
        status = (number - lost, lost, number - lost, 0, 0, lost, 0)
        block = NotificationBlock(NotificationType.FI.value, cast("Counts", tuple(counts)), status)
        found.append(NotificationFip(fip_id, (block,)))
    return msgspec.structs.replace(aa.notifications(window, fips=0), fips=tuple(found))
