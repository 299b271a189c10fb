"""No one can make the service's own metrics grow: labels come from a closed set."""

import itertools
import random
import string

import httpx2
import pytest
from tests.support.service import Service

PREFIXES = (
    "/",
    "/iam/v1/",
    "/console/",
    "/console/operator/members/",
    "/console/member/",
    "/status/",
    "/static/",
    "/cr/v2/entityInfo/FIP/",
    "/cr/v2/entityInfo/",
    "/metrics/perf/v1/",
    "/operator/v1/users/",
    "/operator/v1/registry/entries/",
    "/activate/",
)
MARK = "zq"
"""Begins each invented part of a path."""
METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "PROPFIND", "PURGE")


@pytest.fixture
def measured(strict: Service) -> tuple[Service, str]:
    port = strict.environment["MUDRA_TELEMETRY_PORT"]
    return strict, f"http://127.0.0.1:{port}/metrics"


def random_path(draw: random.Random, prefix: str) -> str:
    characters = string.ascii_letters + string.digits + "-_.~"
    return prefix + "/".join(
        MARK + "".join(draw.choices(characters, k=draw.randint(1, 20)))
        for _ in range(draw.randint(1, 3))
    )


def counted(address: str) -> dict[str, float]:
    """The request counters by their labels."""
    lines = httpx2.get(address).text.splitlines()
    found = (line.rpartition(" ") for line in lines if line.startswith("mudra_requests_total{"))
    return {labels: float(value) for labels, _, value in found}


def test_random_paths_under_every_prefix_and_method_add_no_series(
    measured: tuple[Service, str],
) -> None:
    service, address = measured
    draw = random.Random(20261122)

    def walk() -> set[str]:
        """Send one request of each kind; the series that exist once all are counted."""
        wanted = sum(counted(address).values()) + len(PREFIXES) * len(METHODS)
        with httpx2.Client(base_url=service.root, follow_redirects=False) as client:
            for prefix, method in itertools.product(PREFIXES, METHODS):
                client.request(method, random_path(draw, prefix))
        service.wait_until(lambda: sum(counted(address).values()) >= wanted)
        return set(counted(address))

    before = set(counted(address))
    series = walk() | walk() | walk()

    assert not {one for one in series if MARK in one or "PURGE" in one}
    assert len(series - before) < len(PREFIXES) * len(METHODS)


def test_what_the_audit_of_tokens_lost_is_counted_from_zero(measured: tuple[Service, str]) -> None:
    """A series that began with its first loss would show no increase."""
    _, address = measured

    figures = httpx2.get(address).text
    for kind in ("issued", "refused"):
        assert f'mudra_token_issues_lost_total{{kind="{kind}"}} 0.0' in figures
