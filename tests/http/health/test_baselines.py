"""Charts of health show the week before, and the usual success of that hour of the weekday."""

import html
import json
import re
from datetime import timedelta
from typing import Any

import pytest
from tests.support.metrics.health_network import HealthNetwork, a_network, at_fip
from tests.support.people.console import Reader, reader
from tests.support.service import Service


@pytest.fixture(scope="module")
def network(health_service: Service) -> HealthNetwork:
    """Half of the FI requests to a bank failed in two windows, a week before two good ones."""
    made = a_network(health_service, aas=2, fips=2)
    made.windows(2, at_fip(made.fips[0].entity_id, "fireq", failing=0.5))
    made.settled()
    assert made.reported_to is not None
    then, made.reported_to = made.reported_to, None
    left = then + timedelta(days=7, minutes=5) - health_service.advance("PT0S")
    health_service.advance(f"PT{int(left.total_seconds())}S")
    made.windows(1)
    made.settled()
    assert made.reported_to == then + timedelta(days=7)
    return made


def figures(page: Reader, path: str) -> dict[str, Any]:
    shown = page.get(path).text
    (found,) = re.findall(r"data-figures='([^']*)'", shown)
    read: dict[str, Any] = json.loads(html.unescape(found))
    return read


def latest(found: dict[str, Any], *names: str) -> list[float]:
    """Success of the last window that has calls, and what it is compared with."""
    place = max(at for at, one in enumerate(found["success"]) if one is not None)
    return [found[name][place] for name in ("success", *names)]


def test_a_member_compares_its_success_with_the_week_before(network: HealthNetwork) -> None:
    bank = network.fips[0]
    staff = reader(network.service)
    assert staff.sign_in(bank.email).status_code == 303
    path = f"/console/entity/{bank.entity_id}/health?range=24h&type=fireq&over-time=part"

    plain, compared = figures(staff, path), figures(staff, f"{path}&compare=week")

    assert "before" not in plain
    assert latest(compared, "before", "usual") == [99.0, 50.0, 50.0]


def test_an_operator_sees_the_week_before_of_the_network_and_of_a_member(
    network: HealthNetwork,
) -> None:
    staff = reader(network.service)
    assert staff.sign_in(network.noc.email).status_code == 303
    fip, of = network.fips[0].entity_id, "range=24h&type=fireq"

    own = figures(staff, f"/console/operator/health/fip/{fip}?{of}&compare=week&over-time=part")
    whole = figures(staff, f"/console/operator/health?{of}&trend=part")

    assert latest(own, "before", "usual") == [99.0, 50.0, 50.0]
    now, before, usual = latest(whole, "before", "usual")
    assert now > before == usual
