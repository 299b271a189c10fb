"""Scheduled versions go live one by one, and none keeps another from its time."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest
from tests.support.memory_transaction import MemoryTransaction
from tests.support.registry.registry_actions import LATER, order, shown, submit
from tests.support.registry.registry_memory import MemoryRegistry
from tests.support.registry.registry_payloads import fip

from mudra.jobs.registry_jobs import put_due_live
from mudra.registry.lifecycle.decision import Decision, RegistryAction
from mudra.registry.ports import Registry
from mudra.shared.unavailable import DatabaseUnavailable, Outage

ALL = {"FIP-0", "FIP-1", "FIP-2"}


class Scheduled(MemoryRegistry):
    """Three entries that go live at the same minute, which has come; one may fail."""

    def __init__(self, fails: Exception | None = None) -> None:
        super().__init__()
        self.at_once: list[int] = []
        """How many went live in each transaction."""
        self.fails: Exception | None = None
        for number in range(3):
            submit(self, fip(number))
            order(self, RegistryAction.APPROVE, f"FIP-{number}", goes_live_at=LATER)
        self.now, self.fails = LATER, fails

    async def keep(self, decision: Decision) -> None:
        if self.fails is not None and decision.after.entity_id == "FIP-0":
            raise self.fails
        await super().keep(decision)

    @asynccontextmanager
    async def open_transaction(self) -> AsyncIterator[Any]:
        before = len(self.log)

        yield MemoryTransaction(self.now, {Registry: self})
        self.at_once.append(len(self.log) - before)

    def run(self) -> None:
        asyncio.run(put_due_live(cast("Any", self.open_transaction)))


def test_each_goes_live_in_a_transaction_of_its_own() -> None:
    registry = Scheduled()

    registry.run()

    assert shown(registry) == ALL
    assert max(registry.at_once) == 1


@pytest.mark.parametrize(
    "fails",
    [ZeroDivisionError(), DatabaseUnavailable(cause=Outage.TOO_SLOW)],
    ids=["a fault", "someone holds its row"],
)
def test_one_that_fails_keeps_no_other_from_its_time(fails: Exception) -> None:
    registry = Scheduled(fails=fails)

    with pytest.raises(ExceptionGroup):
        registry.run()

    assert shown(registry) == ALL - {"FIP-0"}


def test_while_the_service_cannot_work_all_wait() -> None:
    registry = Scheduled(fails=DatabaseUnavailable())

    with pytest.raises(DatabaseUnavailable):
        registry.run()

    assert shown(registry) == set()
