"""An entry with very many versions is decided on as one with few (decision 0205)."""

import asyncio
import uuid

import psycopg
import pytest
import sqlalchemy as sa
from tests.storage.registry.many_versions import MANY
from tests.storage.registry.registry_postgres import registry_database, registry_node
from tests.support.registry.registry_actions import OPERATOR, checked
from tests.support.registry.registry_payloads import aa, fip, with_key

from mudra.overview.milestone_store import MilestoneReads
from mudra.registry.lifecycle.acts.register import Command, decide, submit_entry, update_entry
from mudra.registry.lifecycle.acts.submission import Repeat
from mudra.registry.lifecycle.decision import Decision, RegistryAction
from mudra.registry.lifecycle.history import history
from mudra.registry.lifecycle.refusal import AlreadyHeld
from mudra.registry.lifecycle.registry_store import RegistryStore

MAX_HISTORY = 200

MANY_VERSIONS = 20_000
FEW_ROWS = 60
FIRST = aa(0)
READ = sa.text(
    "SELECT coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::bigint FROM pg_stat_xact_user_tables"
    " WHERE relname = 'registry_version'"
)


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    """A registry in which one of two AAs sent 20,000 versions, with one key and handle."""
    with registry_database(tmp_path_factory.mktemp("registry") / "data") as conninfo:

        async def fill():
            async with registry_node(conninfo) as node:
                for one in (FIRST, aa(1), fip(2)):
                    await node.run(submit_entry, checked(one), OPERATOR, approved=True)
                async with node.database.transaction(within_s=60) as transaction:
                    await transaction.connection.execute(sa.text("SET LOCAL statement_timeout = 0"))
                    await transaction.connection.execute(
                        sa.text(MANY), {"entity_id": "AA-0", "last": MANY_VERSIONS}
                    )

        asyncio.run(fill())
        with psycopg.connect(conninfo, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE registry_version")
        yield conninfo


def again(payload):
    return payload | {"txnid": str(uuid.uuid4())}


def counted(conninfo, use_case, *arguments, **options):
    """Act in a transaction that is rolled back; give the outcome and how many versions it read."""

    async def run():
        async with (
            registry_node(conninfo) as node,
            node.database.transaction(within_s=60) as transaction,
        ):
            before = await transaction.connection.scalar(READ)
            registry = RegistryStore(transaction, one_operator=True)
            outcome = await use_case(registry, *arguments, **options)
            read = await transaction.connection.scalar(READ) - before
            await transaction.connection.rollback()
            return outcome, read

    return asyncio.run(run())


def order(act, entity_id="AA-0", **options):
    return Command(act, entity_id, OPERATOR, "because", **options)


def test_it_is_suspended_and_restored(database):
    async def story(registry):
        acts = (RegistryAction.SUSPEND, RegistryAction.RESTORE)
        return [await decide(registry, order(act)) for act in acts]

    outcomes, rows = counted(database, story)

    assert all(isinstance(one, Decision) for one in outcomes)
    assert rows < FEW_ROWS


def test_its_next_version_has_the_next_number(database):
    outcome, rows = counted(database, update_entry, checked(again(FIRST)), OPERATOR)

    assert (outcome.status, outcome.version) == ("live", outcome.before.next_number)
    assert outcome.version > MANY_VERSIONS
    assert rows < FEW_ROWS


def test_its_first_version_sent_again_is_a_repetition(database):
    outcome, rows = counted(database, update_entry, checked(FIRST), OPERATOR)

    assert isinstance(outcome, Repeat)
    assert (outcome.version, outcome.status) == (1, "superseded")
    assert rows < FEW_ROWS


def test_it_is_rolled_back_to_a_version_of_long_ago(database):
    outcome, rows = counted(database, decide, order(RegistryAction.ROLL_BACK, version=3))

    assert isinstance(outcome, Decision)
    assert outcome.after.live.equal_to == 3
    assert outcome.version == outcome.before.next_number
    assert rows < FEW_ROWS


@pytest.mark.parametrize("payload", [aa(1), fip(2)], ids=["AA", "FIP"])
def test_an_update_of_another_entity_reads_none_of_them(database, payload):
    outcome, rows = counted(database, update_entry, checked(again(payload)), OPERATOR)

    assert isinstance(outcome, Decision)
    assert rows < FEW_ROWS


@pytest.mark.parametrize(
    "payload",
    [aa(9, entityhandle="@AA0"), with_key(aa(9), 20_000)],
    ids=["its handle", "its key"],
)
def test_what_it_holds_is_refused_to_another(database, payload):
    outcome, rows = counted(database, submit_entry, checked(payload), OPERATOR)

    assert isinstance(outcome, AlreadyHeld)
    assert rows < FEW_ROWS


def test_its_history_is_that_of_the_newest_versions(database):
    record, rows = counted(database, lambda registry: registry.history("AA-0"))

    steps = history(record)
    assert len(steps) == MAX_HISTORY
    assert steps[-1].version.number == record.next_number - 1
    assert record.left_out == record.next_number - 1 - MAX_HISTORY
    assert rows < 2 * MAX_HISTORY + FEW_ROWS


def test_a_live_version_of_long_ago_is_in_the_history(database):
    waiting = with_key(aa(1), 77)

    async def story(registry):
        await update_entry(registry, checked(waiting), OPERATOR)
        for _ in range(MAX_HISTORY):
            await update_entry(registry, checked(again(waiting)), OPERATOR)
        return await registry.history("AA-1")

    record, _ = counted(database, story)

    assert record.live is not None
    assert record.live.number == record.versions[0].number
    assert len(record.versions) == MAX_HISTORY + 1
    assert history(record)[1].changes


@pytest.mark.parametrize("plan", ["force_custom_plan", "force_generic_plan"])
def test_a_prepared_statement_reads_as_few(database, plan):
    async def story(registry):
        connection, payload = registry._tx.connection, checked(FIRST)
        await connection.execute(sa.text(f"SET LOCAL plan_cache_mode = {plan}"))
        for _ in range(8):  # from the sixth time on the statement is a prepared one
            before = await connection.scalar(READ)
            record = await registry.record("AA-0", version=3, entry=payload.entry)
            facts = await registry.facts(payload.entry, payload.key, await registry.lock())
            read = await connection.scalar(READ) - before
        return record, facts, read

    (record, facts, read), _ = counted(database, story)

    assert {1, 3, record.next_number - 1} <= {one.number for one in record.versions}
    assert facts.handle_holder == facts.kid_holder == facts.modulus_holder == ""
    assert read < FEW_ROWS


def test_when_it_was_first_live_is_read_of_its_first_versions(database):
    with psycopg.connect(database) as connection:
        connection.execute("INSERT INTO entity VALUES ('AA-0', 'AA', 'N', 'active', now())")
        connection.execute(
            "INSERT INTO entity_secret SELECT 'AA-0', 1, 'current', '', '', now(), now()"
        )

    async def story(registry):
        return await MilestoneReads(registry._tx).of_member("AA-0")

    found, rows = counted(database, story)

    assert found.live_from is not None
    assert rows < FEW_ROWS


def test_a_handle_that_it_had_is_added_up_over_its_latest_versions(database):
    other = aa(0, entityhandle="@another")

    async def story(registry):
        await update_entry(registry, checked(other), OPERATOR)
        return await submit_entry(registry, checked(aa(9, entityhandle="@AA0")), OPERATOR)

    outcome, rows = counted(database, story)

    # It had the handle for a moment each time.
    assert isinstance(outcome, Decision)
    assert rows < 10_000 + 2 * FEW_ROWS
