"""What is made of a body takes a bounded part of memory, whatever its bytes hold."""

import gzip
from pathlib import Path

import httpx2
import pytest
from bench.hostile_bodies import push_bodies
from bench.support import peak_rss_mb, rss_mb
from tests.support.depth import with_every_change
from tests.support.http_clients import NO_TLS
from tests.support.metrics.metrics_push import pushing_aa
from tests.support.service import Service

GROWTH_MB = 160.0
"""Of all processes of the service together: twenty times the eight MiB that a body may have."""
RESET_PEAK = "5"


def tree(pid: int) -> list[int]:
    """A process and all below it."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(one for child in children for one in tree(int(child)))]


@pytest.mark.parametrize(
    "kind",
    with_every_change(["objects"], ["objects", "empty FIPs", "zeros", "unknown members", "deep"]),
)
def test_the_worst_push_grows_no_process_of_the_service_beyond_its_bound(
    service: Service, kind: str
) -> None:
    aa = pushing_aa(service)
    body = gzip.compress(push_bodies()[kind], 1)
    processes = tree(service.process.pid)
    for pid in processes:
        Path(f"/proc/{pid}/clear_refs").write_text(RESET_PEAK)
    before = sum(rss_mb(pid) for pid in processes)

    answer = httpx2.post(
        f"{service.root}/metrics/perf/v1/push",
        content=body,
        headers={
            "Authorization": f"Bearer {aa.token}",
            "Content-Type": "application/json",
            "Content-Encoding": "gzip",
        },
        timeout=60,
        verify=NO_TLS,
    )

    assert answer.status_code in {400, 413}
    # The checks of large bodies have a process of their own, begun with the first of them.
    grown = sum(peak_rss_mb(pid) for pid in tree(service.process.pid)) - before
    print(f"{kind}: {grown:.0f} MB")
    assert grown < GROWTH_MB
