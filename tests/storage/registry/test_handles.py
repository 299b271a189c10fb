"""Who holds a handle: who has it, or had it for a day (decision 0205); in memory likewise."""

import asyncio
import contextlib
import datetime as dt
import uuid

import psycopg
import pytest
from tests.storage.registry.registry_postgres import registry_database, registry_node
from tests.support.registry.registry_actions import OPERATOR, checked
from tests.support.registry.registry_memory import MemoryRegistry
from tests.support.registry.registry_payloads import aa

from mudra.registry.lifecycle.acts.register import Command, decide, submit_entry, update_entry
from mudra.registry.lifecycle.decision import Decision, RegistryAction
from mudra.registry.lifecycle.refusal import AlreadyHeld

HOUR = dt.timedelta(hours=1)
TAKEN = AlreadyHeld("entityinfo.entityhandle", "@NewAA", "AA-0")


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    with registry_database(tmp_path_factory.mktemp("registry") / "data") as conninfo:
        yield conninfo


@pytest.fixture
def empty(database):
    with psycopg.connect(database) as connection:
        connection.execute("TRUNCATE registry_entity, registry_version, registry_change CASCADE")
    return database


class Both:
    """The same acts on the registry in PostgreSQL and in memory, with the same outcomes."""

    def __init__(self, node) -> None:
        self.node = node
        self.memory = MemoryRegistry()

    async def act(self, use_case, *arguments, **options):
        self.memory.now = await self.node.now()
        outcome = await self.node.run(use_case, *arguments, **options)
        if isinstance(outcome, Decision):
            self.memory.now = outcome.at
        assert await use_case(self.memory, *arguments, **options) == outcome
        return outcome

    async def live(self, number, handle):
        """Put another version of an AA live, with this handle."""
        payload = checked(aa(number, entityhandle=handle) | {"txnid": str(uuid.uuid4())})
        record = self.memory.records.get(f"AA-{number}")
        if record is None:
            return await self.act(submit_entry, payload, OPERATOR, approved=True)
        return await self.act(update_entry, payload, OPERATOR)

    async def waits(self, number, handle):
        """Submit a first entry, which waits."""
        return await self.act(submit_entry, checked(aa(number, entityhandle=handle)), OPERATOR)

    async def decide(self, act, number, **options):
        command = Command(act, f"AA-{number}", OPERATOR, "because", version=1, **options)
        return await self.act(decide, command)

    def later(self, hours):
        self.node.offset += hours * HOUR


@contextlib.asynccontextmanager
async def both_registries(conninfo):
    async with registry_node(conninfo) as node:
        yield Both(node)


def test_a_handle_that_another_took_for_a_moment_is_free_again(empty):
    async def story():
        async with both_registries(empty) as registry:
            await registry.live(0, "@old")
            assert isinstance(await registry.waits(1, "@NewAA"), Decision)
            assert (await registry.live(0, "@newaa")).status == "live"
            registry.later(23)
            assert await registry.decide(RegistryAction.APPROVE, 1) == TAKEN
            assert (await registry.live(0, "@old")).status == "live"

            approved = await registry.decide(RegistryAction.APPROVE, 1)

            assert approved.status == "live"
            # As it was sent.
            assert approved.after.live.entry.entityinfo.entityhandle == "@NewAA"
            assert isinstance(await registry.live(0, "@newaa"), AlreadyHeld)

    asyncio.run(story())


def test_a_handle_that_was_live_for_a_day_in_all_stays_with_its_entity(empty):
    async def story():
        async with both_registries(empty) as registry:
            await registry.live(0, "@newaa")
            registry.later(12)
            await registry.live(0, "@old")
            registry.later(48)
            await registry.live(0, "@NEWAA")
            registry.later(11)
            await registry.live(0, "@old")
            assert isinstance(await registry.waits(1, "@NewAA"), Decision)
            await registry.live(0, "@newaa")
            registry.later(1.01)
            await registry.live(0, "@old")

            assert await registry.decide(RegistryAction.APPROVE, 1) == TAKEN
            assert (await registry.live(0, "@newaa")).status == "live"

    asyncio.run(story())


def test_a_handle_of_who_is_retired_stays_taken_however_short_it_was_live(empty):
    async def story():
        async with both_registries(empty) as registry:
            await registry.live(0, "@newaa")
            await registry.live(0, "@old")
            await registry.decide(RegistryAction.RETIRE, 0)

            assert await registry.waits(1, "@NewAA") == TAKEN

    asyncio.run(story())


def test_a_handle_is_held_from_its_approval_on(empty):
    async def story():
        async with both_registries(empty) as registry:
            await registry.waits(0, "@newaa")
            due = await registry.node.now() + HOUR
            await registry.decide(RegistryAction.APPROVE, 0, goes_live_at=due)

            assert await registry.waits(1, "@NewAA") == TAKEN

    asyncio.run(story())
