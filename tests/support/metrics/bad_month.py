"""A network of which some banks had an outage last month, on the second of the next one."""

from datetime import timedelta
from typing import Final
from zoneinfo import ZoneInfo

from tests.support.metrics.health_network import HealthNetwork, a_network, at_fip
from tests.support.service import Service

INDIA: Final = ZoneInfo("Asia/Kolkata")
DAY: Final = timedelta(days=1)


def after_a_bad_month(service: Service, *, banks: int = 1) -> HealthNetwork:
    """FI requests failed at each of the first banks, one after the other, after a new secret."""
    while service.advance("PT0S").astimezone(INDIA).day == 1:
        service.advance("PT6H")  # all of what follows is in one month
    network = a_network(service)
    network.windows(5)
    for bank in network.fips[:banks]:
        assert bank.reset().status_code == 200
        network.windows(3, at_fip(bank.entity_id, "fireq", failing=0.7))
        network.windows(4)
    network.settled()
    now = service.advance("PT0S").astimezone(INDIA)
    second = (now.replace(day=1, hour=12) + 32 * DAY).replace(day=2)
    service.advance(f"PT{int((second - now).total_seconds())}S")
    return network
