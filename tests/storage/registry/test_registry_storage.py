"""The registry in PostgreSQL keeps the promises of its ports, as the one in memory does."""

import asyncio
import datetime as dt
import random

import psycopg
import pytest
import sqlalchemy as sa
from msgspec.structs import replace
from tests.storage.registry.registry_postgres import registry_database, registry_node
from tests.support.registry.registry_memory import MemoryRegistry
from tests.support.registry.registry_payloads import aa, fip, fiu, with_key

from mudra.registry.directory.directory import OPERATOR_VISIBILITY, Visibility, visibility_of
from mudra.registry.directory.mirror import Mirror, changes_since, directory_at
from mudra.registry.lifecycle.actor import DECIDE, SUBMIT, Actor, ActorKind
from mudra.registry.lifecycle.acts.register import (
    Command,
    decide,
    put_live_if_due,
    submit_entry,
    update_entry,
)
from mudra.registry.lifecycle.decision import Decision, RegistryAction
from mudra.registry.lifecycle.refusal import AlreadyHeld
from mudra.registry.lifecycle.registry_store import RegistryStore
from mudra.registry.payload.fields.url_rules import AddressPolicy
from mudra.registry.payload.validation import CheckedPayload, check_payload
from mudra.registry.payload.vocabulary import shipped_vocabulary
from mudra.shared.entity_type import EntityType
from mudra.storage.tables.registry import metadata

OPERATOR = Actor(ActorKind.OPERATOR, "operator:olga", scopes=frozenset({SUBMIT, DECIDE}))
ORDERS = (
    RegistryAction.APPROVE,
    RegistryAction.APPROVE,
    RegistryAction.APPROVE,
    RegistryAction.REJECT,
    RegistryAction.SUSPEND,
    RegistryAction.RESTORE,
    RegistryAction.RESTORE,
    RegistryAction.RETIRE,
    RegistryAction.ROLL_BACK,
)
MAKERS = (fip, fiu, aa)


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    with registry_database(tmp_path_factory.mktemp("registry") / "data") as conninfo:
        yield conninfo


ACTS_WITH_THE_SAME = 40
"""So many acts are on the same members, then one of them is left and another one comes."""


@pytest.fixture
def empty(database):
    with psycopg.connect(database) as connection:
        connection.execute(
            "TRUNCATE registry_entity, registry_version, registry_change, registry_word, entity"
            " CASCADE"
        )
    return database


def checked(raw) -> CheckedPayload:
    result = check_payload(raw, AddressPolicy(), shipped_vocabulary())
    assert isinstance(result, CheckedPayload), result
    return result


def order(act, entity_id, **more) -> Command:
    return Command(act, entity_id, OPERATOR, reason="because", **more)


def random_act(chance, now, shift=0):
    """Give something to do, as a function of a registry; `shift` brings new members."""
    make, number = chance.choice(MAKERS), chance.randrange(8) + shift
    payload = make(number, tags=f"Tag {chance.randrange(40)}")
    if chance.random() < 0.3:
        # Some of these names are another's, in capitals or small letters.
        payload["entityinfo"]["name"] = f"Name {chance.choice('ABCa')}{chance.randrange(9)}"
    if make is aa and chance.random() < 0.4:
        payload["entityinfo"]["entityhandle"] = f"@{chance.choice(['aa', 'AA'])}{number // 3}"
    if chance.random() < 0.3:
        # Now and then a key that somebody else has.
        payload = with_key(payload, chance.randrange(30))
    entity_id = payload["entityinfo"]["id"]
    kind = chance.random()
    if kind < 0.2:
        return lambda registry: submit_entry(
            registry, checked(payload), OPERATOR, approved=number % 2 == 0
        )
    if kind < 0.6:
        return lambda registry: update_entry(registry, checked(payload), OPERATOR)
    act = chance.choice(ORDERS)
    later = now + dt.timedelta(hours=1) if act is RegistryAction.APPROVE and kind < 0.7 else None
    names_one = act in {RegistryAction.ROLL_BACK, RegistryAction.APPROVE}
    version = chance.randrange(1, 4) if names_one else 0
    what = order(act, entity_id, version=version, goes_live_at=later)
    return lambda registry: decide(registry, what)


async def follow(log, mirror, sight):
    while True:
        received = await changes_since(log, sight, mirror.upto)
        mirror = mirror.follow(received)
        if not received.more:
            assert mirror.hash() == received.hash
            return mirror


def test_the_tables_are_those_that_the_migrations_make(database):
    names = [name for name in metadata.tables if name.startswith("registry_")]
    engine = sa.create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(database))
    made = sa.MetaData()
    made.reflect(engine, only=names)
    for name in names:
        ours, theirs = metadata.tables[name], made.tables[name]
        assert [(c.name, c.nullable) for c in ours.c] == [(c.name, c.nullable) for c in theirs.c]
        assert {i.name for i in ours.indexes} == {i.name for i in theirs.indexes}
    engine.dispose()


def test_any_acts_give_the_same_records_and_the_same_log_as_in_memory(empty):
    async def act_on_both():
        chance = random.Random(7)
        memory = MemoryRegistry()
        async with registry_node(empty) as node:
            for number in range(250):
                act = random_act(chance, memory.now)
                outcome = await node.run(act)
                if isinstance(outcome, Decision):
                    memory.now = outcome.at
                assert await act(memory) == outcome
                if number % 30 == 29:
                    node.offset += dt.timedelta(hours=5)
                    memory.now = await node.now()
                    due = await node.run(lambda registry: registry.due(memory.now))
                    assert sorted(due) == sorted(await memory.due(memory.now))
            for entity_id, record in memory.records.items():
                assert await node.record(entity_id) == await memory.record(entity_id)
                assert await node.run(RegistryStore.history, entity_id) == record
            kept = await node.log.following(0, 10_000)
            assert [replace(one, at=None) for one in kept] == [
                replace(one, at=None) for one in memory.log
            ]
            assert len(kept) > 30

    asyncio.run(act_on_both())


def test_what_goes_live_later_goes_live_at_its_time_and_once(empty):
    async def story():
        async with registry_node(empty) as node:
            await node.run(submit_entry, checked(fip(0)), OPERATOR)
            due = await node.now() + dt.timedelta(hours=1)
            await node.run(
                decide, order(RegistryAction.APPROVE, "FIP-0", version=1, goes_live_at=due)
            )
            assert not await node.run(put_live_if_due, "FIP-0")
            node.offset = dt.timedelta(hours=1, seconds=1)
            runs = [await node.run(put_live_if_due, "FIP-0") for _ in range(2)]
            assert runs == [True, False]
            assert "FIP-0" in (await node.log.current()).listed

    asyncio.run(story())


def test_after_a_write_at_a_wrong_time_what_is_scheduled_still_waits(empty):
    async def story():
        async with registry_node(empty) as node:
            node.offset = dt.timedelta(days=400)
            await node.run(submit_entry, checked(fip(0)), OPERATOR, approved=True)
            node.offset = dt.timedelta()
            await node.run(submit_entry, checked(fip(1)), OPERATOR)
            due = await node.now() + dt.timedelta(hours=1)
            await node.run(
                decide, order(RegistryAction.APPROVE, "FIP-1", version=1, goes_live_at=due)
            )

            assert not await node.run(put_live_if_due, "FIP-1")
            await node.run(submit_entry, checked(fip(2)), OPERATOR, approved=True)
            first, second = await node.log.following(0, 9)
            assert first.at == second.at

    asyncio.run(story())


def test_two_who_submit_the_same_key_at_once_do_not_both_get_it(empty):
    async def story():
        async with registry_node(empty) as one, registry_node(empty) as two:
            outcomes = await asyncio.gather(
                *(
                    node.run(submit_entry, checked(with_key(fip(n), 3)), OPERATOR, approved=True)
                    for n, node in enumerate([one, two, one, two, one, two])
                )
            )
            assert sum(isinstance(outcome, Decision) for outcome in outcomes) == 1
            assert sum(isinstance(outcome, AlreadyHeld) for outcome in outcomes) == 5

    asyncio.run(story())


def test_another_node_shows_a_change_as_soon_as_it_is_committed(empty):
    async def story():
        async with registry_node(empty) as one, registry_node(empty) as two:
            for number in range(20):
                await one.run(submit_entry, checked(fip(number)), OPERATOR, approved=True)
                assert len((await two.log.current()).listed) == number + 1

    asyncio.run(story())


def other_rows_in_the_log(conninfo, last):
    """Lose the rows from `last` on and write others, as a standby that lacked them does."""
    with psycopg.connect(conninfo) as connection:
        connection.execute("DELETE FROM registry_change WHERE sequence >= %s", [last])
        connection.execute(
            "INSERT INTO registry_change (sequence, at, type, entity_id, body)"
            " SELECT %s + n, clock_timestamp(), 'FIP', 'FIP-' || (7 + n), '{}'"
            " FROM generate_series(0, 1) n",
            [last],
        )


async def news_of_a_fail_over(node):
    node.invalidation._invalidate_everything()  # as with the first proof of another primary


async def proof_is_late(node):
    """Give no news: the memory is not valid while the listening connection is proven by no one."""
    await node.invalidation.stop()
    node.invalidation._proven_at = float("-inf")


@pytest.mark.parametrize("news", [news_of_a_fail_over, proof_is_late])
def test_rows_that_a_fail_over_lost_leave_memory_though_others_have_their_numbers(empty, news):
    async def story():
        async with registry_node(empty) as node:
            for number in range(2):
                await node.run(submit_entry, checked(fip(number)), OPERATOR, approved=True)
            await node.mark_visibility()
            assert await node.log.opened_at() == 3

            other_rows_in_the_log(empty, 3)
            await news(node)
            after = await node.log.current()
            async with registry_node(empty) as fresh:
                assert after == await fresh.log.current()
            assert (set(after.listed), after.sequence) == ({"FIP-0", "FIP-1", "FIP-7", "FIP-8"}, 4)
            assert await node.log.opened_at() == 0

    asyncio.run(story())


def test_a_log_that_was_cut_off_leaves_nothing_of_its_end_in_memory(empty):
    async def story():
        async with registry_node(empty) as node:
            for number in range(2):
                await node.run(submit_entry, checked(fip(number)), OPERATOR, approved=True)
            assert (await node.log.current()).sequence == 2

            with psycopg.connect(empty) as connection:
                connection.execute("DELETE FROM registry_change WHERE sequence = 2")
            await news_of_a_fail_over(node)

            assert set((await node.log.current()).listed) == {"FIP-0"}

    asyncio.run(story())


async def broken_off(node):
    async def mark_and_fail(registry):
        await registry.mark_visibility()
        raise ZeroDivisionError

    await node.run(mark_and_fail)


def test_nothing_is_half_stored_when_a_write_breaks_off(empty):
    async def story():
        async with registry_node(empty) as node:
            with pytest.raises(ZeroDivisionError):
                await broken_off(node)
            await node.run(submit_entry, checked(fip(0)), OPERATOR, approved=True)
            assert [one.sequence for one in await node.log.following(0, 9)] == [1]
            assert await node.log.opened_at() == 0
            await node.mark_visibility()
            assert await node.log.opened_at() == 2

    asyncio.run(story())


def test_the_directory_as_it_was_at_a_moment(empty):
    async def story():
        async with registry_node(empty) as node:
            done = await node.run(submit_entry, checked(fip(0)), OPERATOR, approved=True)
            assert isinstance(done, Decision)
            node.offset = dt.timedelta(minutes=1)
            await node.run(decide, order(RegistryAction.SUSPEND, "FIP-0"))
            then = await directory_at(node.log, done.at)
            assert (len(then.listed), len((await node.log.current()).listed)) == (1, 0)

    asyncio.run(story())


def a_log_of_years(conninfo, rows, earlier_type="FIP"):
    """Write changes of ten entries, the tenth of which left; the last two of each are of FIPs."""
    with psycopg.connect(conninfo) as connection:
        connection.execute(
            "INSERT INTO registry_change (sequence, at, type, entity_id, body)"
            " SELECT n, '2026-01-01Z'::timestamptz + n * interval '1 minute',"
            " CASE WHEN n > %(rows)s - 20 THEN 'FIP' ELSE %(earlier_type)s::text END,"
            " 'FIP-' || n %% 10, CASE WHEN n %% 10 > 0 THEN convert_to(n::text, 'UTF8') END"
            " FROM generate_series(1, %(rows)s) n",
            {"rows": rows, "earlier_type": earlier_type},
        )


def test_a_process_reads_the_last_change_of_each_entry_and_none_before(empty):
    a_log_of_years(empty, 1500, earlier_type="what no reader knows")

    async def story():
        async with registry_node(empty) as node:
            now = await node.log.current()
            assert (now.sequence, len(now.listed), len(now.changed_at)) == (1500, 9, 10)
            then = await directory_at(node.log, now.changed_at["FIP-9"])
            assert (then.sequence, then.listed) == (1499, now.listed)

    asyncio.run(story())


def test_a_process_that_missed_very_many_changes_begins_again(empty):
    async def story():
        async with registry_node(empty) as node:
            await node.run(submit_entry, checked(aa(0)), OPERATOR, approved=True)
            await node.log.current()
            with psycopg.connect(empty) as connection:
                connection.execute("UPDATE registry_change SET sequence = 0")
            a_log_of_years(empty, 1500)
            await news_of_a_fail_over(node)

            assert len((await node.log.current()).listed) == 10

    asyncio.run(story())


def mirror_run(conninfo, changes, seed, acts, follows):
    """Let three mirrors follow random acts, forgetting and restarting now and then.

    Each node does some of `acts` before the next one begins; `follows` acts of 100 are followed.
    """

    async def story():
        chance = random.Random(seed)
        sights = [
            OPERATOR_VISIBILITY,
            visibility_of(EntityType.FIP, "FIP-1"),
            Visibility(frozenset()),
        ]
        mirrors = [Mirror(0, {}) for _ in sights]
        reached = done = 0
        while reached < changes:
            # Another node each time: a restart of the service.
            async with registry_node(conninfo) as node:
                for _ in range(chance.choice(acts)):
                    now = dt.datetime.now(dt.UTC)
                    # New members come with each act: all present ones may be retired.
                    await node.run(random_act(chance, now, done // ACTS_WITH_THE_SAME))
                    done += 1
                    if chance.randrange(100) < follows:
                        which = chance.randrange(len(sights))
                        mirrors[which] = await follow(node.log, mirrors[which], sights[which])
                reached = (await node.log.current()).sequence
                if chance.random() < 0.2:
                    mirrors[chance.randrange(len(sights))] = Mirror(0, {})
        async with registry_node(conninfo) as node:
            directory = await node.log.current()
            for mirror, sight in zip(mirrors, sights, strict=True):
                last = await follow(node.log, mirror, sight)
                assert set(last.bodies.values()) == {one.body for one in directory.visible(sight)}
        return reached

    return asyncio.run(story())


@pytest.mark.slow
def test_mirrors_prove_themselves_complete_through_changes_and_restarts(empty):
    assert mirror_run(empty, 60, seed=11, acts=range(50, 120), follows=5) >= 60


@pytest.mark.slow
def test_mirrors_prove_themselves_complete_through_ten_thousand_changes(empty):
    assert mirror_run(empty, 10_000, seed=12, acts=range(60, 200), follows=3) >= 10_000
