"""A data directory on a full disk ends no process of a node, and no token is refused (44, 5)."""

import contextlib
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import httpx2
import pytest
from tests.support.agent.agent_process import free_port
from tests.support.database.own_postgres import own_postgres
from tests.support.depth import with_every_change
from tests.support.http_clients import NO_TLS
from tests.support.members import new_member
from tests.support.process import running_service
from tests.support.processes import forked_by
from tests.support.service import Service
from tests.support.small_disk import fill, small_disk

ROUNDS = 15
"""Enough for labels of metrics that no process has written before."""


@contextlib.contextmanager
def node(folder: Path, port: int, *, embedded: bool, ext4: bool) -> Iterator[tuple[Service, Path]]:
    """A node whose data directory is on a small disk, with its database there or elsewhere."""
    disk = folder / "disk"
    disk.mkdir()
    with contextlib.ExitStack() as opened:
        opened.enter_context(small_disk(disk, 160 if embedded else 16, ext4=ext4))
        variables = {"MUDRA_TELEMETRY_PORT": str(port)}
        if not embedded:
            variables["MUDRA_DATABASE_URL"] = opened.enter_context(
                own_postgres(folder / "database")
            )
        service = opened.enter_context(
            running_service(disk / "data", "--workers", "2", **variables)
        )
        yield service, disk


@pytest.mark.parametrize(
    ("embedded", "ext4"),
    with_every_change([(True, False)], product([True, False], [False, True])),
)
def test_a_full_disk_ends_no_process_and_tokens_go_on(
    tmp_path: Path, *, embedded: bool, ext4: bool
) -> None:
    port = free_port()
    with node(tmp_path, port, embedded=embedded, ext4=ext4) as (service, disk):
        member = new_member(service)
        secret = member.secret()
        processes = forked_by(service.process.pid)
        assert set(processes) == {"worker-0", "worker-1", "jobs"}
        filler = fill(disk)

        paths = httpx2.get(f"{service.root}/schema/openapi.json", verify=NO_TLS).json()["paths"]
        tokens = []
        for number in range(ROUNDS):
            with service.client(kept=0) as client:
                for path in list(paths)[number::ROUNDS]:
                    client.request("PUT" if number % 2 else "GET", service.root + path)
            tokens.append(member.entity_token(secret).status_code)

        assert tokens == [200] * ROUNDS
        assert forked_by(service.process.pid) == processes
        assert "mudra_requests_total" in metrics(port)
        filler.unlink()
        service.wait_until(lambda: ready(service) == {"status": "ready"})
        assert forked_by(service.process.pid) == processes
        assert member.reset().status_code == 200


def ready(service: Service) -> object:
    return httpx2.get(f"{service.root}/readyz", verify=NO_TLS).json()


def metrics(port: int) -> str:
    return httpx2.get(f"http://127.0.0.1:{port}/metrics", verify=NO_TLS).text
