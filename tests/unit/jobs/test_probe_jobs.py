"""Probes that wait are run, and none keeps another from its turn."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.support.memory_transaction import MemoryTransaction

from mudra.audit.event import Caller
from mudra.jobs.probe_jobs import run_probes
from mudra.registry.probe.probe import ProbeResult, WaitingProbe
from mudra.registry.probe.probe_service import ProbeService
from mudra.shared.unavailable import DatabaseUnavailable

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
FOUND = ProbeResult(200, "", "")


class Stored:
    """Probes in memory, the oldest first."""

    def __init__(self, *entity_ids: str) -> None:
        self.left = [
            WaitingProbe(one, one, 1, "https://fip.example.org", {}, Caller("operator:tests"))
            for one in entity_ids
        ]
        self.done: dict[str, ProbeResult] = {}

    async def waiting(self, limit: int) -> Sequence[WaitingProbe]:
        return self.left[:limit]

    async def complete(self, waiting: WaitingProbe, result: ProbeResult) -> None:
        self.left.remove(waiting)
        self.done[waiting.entity_id] = result

    @asynccontextmanager
    async def open_transaction(self) -> AsyncIterator[Any]:
        waiting = SimpleNamespace(waiting=self.waiting)
        service = SimpleNamespace(probes=waiting, complete=self.complete)
        yield MemoryTransaction(NOW, {ProbeService: service})

    def run(self, answers: dict[str, Exception]) -> None:
        async def probe(waiting: WaitingProbe) -> ProbeResult:
            if waiting.entity_id in answers:
                raise answers[waiting.entity_id]
            return FOUND

        asyncio.run(run_probes(cast("Any", self.open_transaction), probe))


def test_probes_that_fail_in_themselves_are_done_and_others_get_their_turn() -> None:
    odd = {f"ODD-{i}": RuntimeError("of a stranger") for i in range(6)}
    stored = Stored(*odd, "KAVERI-FIP")

    stored.run(dict(odd))

    assert stored.left == []
    assert stored.done["KAVERI-FIP"] == FOUND
    assert stored.done["ODD-0"].problem == "the probe failed: RuntimeError"
    assert not stored.done["ODD-0"].is_key_proven


def test_while_the_service_cannot_work_a_probe_waits() -> None:
    stored = Stored("KAVERI-FIP")

    with pytest.raises(DatabaseUnavailable):
        stored.run({"KAVERI-FIP": DatabaseUnavailable()})

    assert len(stored.left) == 1
