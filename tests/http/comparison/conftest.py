"""A network of six AAs and six FIPs, of which some weeks are over: what comparisons are made of."""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

import msgspec
import pytest
from tests.http.health.service_in_process import ServiceInProcess, service_in_process
from tests.support.members import Member, new_member
from tests.support.metrics.health_network import reporting
from tests.support.metrics.metrics_push import PushingAa, receive_at_once
from tests.support.people.operators import Operator, new_operator

from mudra.metrics.payload.report import (
    NotificationBlock,
    NotificationFip,
    RequestBlock,
    RequestFip,
)

WEEKS = 4
MEMBERS = 6
REQUESTS = ("adisc", "alink", "alinkv", "cns", "fireq", "sfireqnot", "ffireqnot", "fif")
Key = tuple[datetime, str, str, str]
"""Start of a window, AA, FIP and type."""


@dataclass
class Weeks:
    """The service, its members, and each block that was reported."""

    service: ServiceInProcess
    noc: Operator
    members: list[Member]
    aas: list[PushingAa]
    fips: list[Member]
    counts: dict[Key, list[int]] = field(default_factory=dict)
    statuses: dict[Key, list[int]] = field(default_factory=dict)

    @property
    def windows(self) -> list[datetime]:
        """The windows that were reported, in order."""
        return sorted({at for at, *_ in self.counts})

    def counted(self, code: str, **where: object) -> list[int]:
        """The sums of the fifteen counts of a type, by plain loops."""
        return _added(self.counts, code, 15, **where)

    def outcomes(self, **where: object) -> list[int]:
        """The sums of the seven statuses of `finot`."""
        return _added(self.statuses, "finot", 7, **where)

    def report(self, window: datetime, dice: random.Random) -> None:
        """Store both payloads of each AA for a window."""
        for aa in self.aas:
            requests, notifications, reports = [], [], []
            for place, fip in enumerate(self.fips):
                blocks = []
                for code in REQUESTS:
                    counts = _counts(dice, code, place)
                    self.counts[window, aa.aa_id, fip.entity_id, code] = counts
                    times = sorted(dice.randint(20, 900) * (place + 1) for _ in range(4))
                    size = {"sum_of_size_of_data_packets": "5000"} if code == "fif" else {}
                    blocks.append(RequestBlock(code, tuple(times), tuple(counts), **size))
                requests.append(RequestFip(fip.entity_id, tuple(blocks)))
                ended, status = [90, 90, *[0] * 13], [dice.randint(0, 30) for _ in range(7)]
                self.counts[window, aa.aa_id, fip.entity_id, "finot"] = ended
                self.statuses[window, aa.aa_id, fip.entity_id, "finot"] = status
                block = NotificationBlock("finot", tuple(ended), tuple(status))
                notifications.append(NotificationFip(fip.entity_id, (block,)))
            for payload, fips in (
                (aa.requests(window, fips=0), requests),
                (aa.notifications(window, fips=0), notifications),
            ):
                reports.append(msgspec.structs.replace(payload, fips=tuple(fips)))
            receive_at_once(self.service, reports)


def _counts(dice: random.Random, code: str, place: int) -> list[int]:
    """Some 60 calls of which some fail, of each FIP another share."""
    if code in {"sfireqnot", "ffireqnot"}:
        ended = dice.randint(20, 40) if code == "sfireqnot" else dice.randint(0, 4 + 2 * place)
        return [ended, ended, *[0] * 13]
    answers = [0, dice.randint(40, 60), *[dice.randint(0, 1 + place) for _ in range(13)]]
    answers[0] = sum(answers) + dice.randint(0, 3)
    return answers


def _added(
    blocks: dict[Key, list[int]], code: str, length: int, *, aa: str = "", fip: str = "",
    start: datetime | None = None, end: datetime | None = None,
) -> list[int]:  # fmt: skip
    total = Counter[int]()
    for (at, aa_id, fip_id, of), counts in blocks.items():
        if of != code or aa not in {"", aa_id} or fip not in {"", fip_id}:
            continue
        if (start is None or at >= start) and (end is None or at < end):
            total.update(dict(enumerate(counts)))
    return [total[place] for place in range(length)]


@pytest.fixture(scope="package")
def weeks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Weeks]:
    """Four weeks with a reported window each, and a fortnight in which nothing came."""
    with service_in_process(tmp_path_factory.mktemp("weeks") / "data") as service:
        banks = [new_member(service, "FIP") for _ in range(MEMBERS)]
        gateways = [new_member(service, "AA") for _ in range(MEMBERS)]
        made = Weeks(
            service, new_operator(service, "health"), [*banks, *gateways],
            [reporting(one) for one in gateways], banks,
        )  # fmt: skip
        dice = random.Random(46)
        for _ in range(WEEKS):
            made.report(made.aas[0].last_window(), dice)
            forward(service, "P7D")
        forward(service, "P9D")
        made.aas = [reporting(one) for one in gateways]  # the tokens of weeks ago are over
        yield made


def forward(service: ServiceInProcess, how_long: str) -> None:
    """Move the clock without a job: no window is judged here."""
    address = f"{service.root}/sandbox/v1/clock"
    answer = service.client().post(address, json={"advance": how_long})
    assert answer.status_code == 200, answer.text
