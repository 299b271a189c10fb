"""A network with an outage and a broken path, and what is asked about its service levels."""

from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import httpx2
from tests.support.metrics.health_network import a_network, at_fip, on_path
from tests.support.service import Service

WINDOW = timedelta(minutes=10)
REPORTS = "/levels/reports"
INDIA = ZoneInfo("Asia/Kolkata")
FIRST_DAYS = 2
CALLS = 100
AAS = 4


def within_a_month(service: Service) -> None:
    """Move the service into a month, away from its ends.

    A month says nothing about its budget on its first day, and in its last hours it may be over
    before a test is.
    """
    while not _is_within(service.advance("PT0S").astimezone(INDIA)):
        service.advance("P1D")


def _is_within(now: datetime) -> bool:
    return now.day > FIRST_DAYS and (now + timedelta(days=1)).month == now.month


class LevelWorld:
    """A network in which one FIP was down for three windows, and a path to it for three others."""

    def __init__(self, service: Service) -> None:
        within_a_month(service)
        self.network = a_network(service, aas=AAS, fips=4)
        self.fip = self.network.fips[0].entity_id
        self.other = self.network.fips[1]
        net, fip = self.network, self.fip
        net.windows(6)
        self.start = self._next() - 6 * WINDOW
        net.windows(3, at_fip(fip, "fireq", failing=0.6))
        net.windows(4)
        net.windows(3, on_path(net.aas[1].aa_id, fip, failing=0.7))
        net.windows(4)
        net.settled()
        self.end = self._next()

    def _next(self) -> datetime:
        assert self.network.reported_to is not None
        return self.network.reported_to + WINDOW

    def period(self, **more: object) -> dict[str, object]:
        return {"start": self.start.isoformat(), "end": self.end.isoformat(), **more}

    def make(self, entity_id: str) -> dict[str, Any]:
        answer = self.network.noc.post(REPORTS, **self.period(entityId=entity_id))
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()["report"]
        return found

    def read(self, report_id: str, more: str = "", **query: str) -> httpx2.Response:
        return self.network.noc.get(f"{REPORTS}/{report_id}{more}", **query)
