"""A slot of a job is run once in the network, and again where its node was killed or failed."""

import asyncio
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from mudra.storage.database.job_runs import PostgresJobRuns

HOUR = timedelta(hours=1)


@pytest.fixture
def two_nodes(conninfo):
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("DELETE FROM job_run")
    return PostgresJobRuns(conninfo), PostgresJobRuns(conninfo)


def run(steps):
    return asyncio.run(steps)


def test_a_slot_is_claimed_by_one_node_and_not_again_when_it_is_done(two_nodes):
    first, second = two_nodes

    async def steps():
        slot = await first.begin("mail", HOUR, timedelta())
        meanwhile = await second.begin("mail", HOUR, timedelta())
        await first.end("mail", slot, "")
        afterwards = await second.begin("mail", HOUR, timedelta())
        await first.close()
        await second.close()
        return slot, meanwhile, afterwards

    slot, meanwhile, afterwards = run(steps())
    now = datetime.now(UTC)
    assert slot == now.replace(minute=0, second=0, microsecond=0)
    assert meanwhile is None
    assert afterwards is None


def test_a_slot_begins_at_the_offset_of_its_job(two_nodes):
    first, second = two_nodes

    async def steps():
        slot = await first.begin("recount", HOUR, timedelta(minutes=17))
        await first.close()
        await second.close()
        return slot

    assert run(steps()).minute == 17


def test_two_jobs_of_one_node_run_side_by_side(two_nodes):
    first, _ = two_nodes

    async def steps():
        slots = [await first.begin(name, HOUR, timedelta()) for name in ("mail", "keys")]
        await first.close()
        return slots

    assert None not in run(steps())


def test_jobs_that_a_start_begins_at_once_stay_claimed_while_they_run(two_nodes):
    """Each opened a connection of its own, and all but the last lost their claim with it."""
    first, second = two_nodes
    names = [f"job-{number}" for number in range(8)]

    async def steps():
        slots = await asyncio.gather(*(first.begin(name, HOUR, timedelta()) for name in names))
        taken = [await second.begin(name, HOUR, timedelta()) for name in names]
        await first.close()
        await second.close()
        return slots, taken

    slots, taken = run(steps())
    assert None not in slots
    assert taken == [None] * len(names)


def test_the_slot_of_a_killed_node_is_run_by_another(two_nodes, conninfo):
    first, second = two_nodes

    async def steps():
        await first.begin("mail", HOUR, timedelta())
        with psycopg.connect(conninfo, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_locks"
                " WHERE locktype = 'advisory' AND granted"
            )
        taken = await second.begin("mail", HOUR, timedelta())
        await second.close()
        return taken

    assert run(steps()) is not None


def test_a_failure_is_recorded_and_its_slot_is_run_again_after_a_pause(two_nodes, conninfo):
    first, second = two_nodes

    async def steps():
        slot = await first.begin("mail", HOUR, timedelta())
        await first.end("mail", slot, "ValueError")
        at_once = await second.begin("mail", HOUR, timedelta())
        with psycopg.connect(conninfo, autocommit=True) as connection:
            recorded = connection.execute("SELECT failures, error, slot FROM job_run").fetchone()
            connection.execute("UPDATE job_run SET started_at = started_at - interval '5 min'")
        after_a_long_run = await second.begin("mail", HOUR, timedelta())
        with psycopg.connect(conninfo, autocommit=True) as connection:
            connection.execute("UPDATE job_run SET finished_at = finished_at - interval '5 min'")
        later = await second.begin("mail", HOUR, timedelta())
        await second.end("mail", later, "")
        with psycopg.connect(conninfo, autocommit=True) as connection:
            cleared = connection.execute("SELECT failures, error FROM job_run").fetchone()
        await first.close()
        await second.close()
        return (at_once, after_a_long_run), recorded, later, cleared

    too_early, recorded, later, cleared = run(steps())
    assert too_early == (None, None)
    assert recorded == (1, "ValueError", None)
    assert later is not None
    assert cleared == (0, "")


@pytest.mark.parametrize("ahead", ["5 hours 30 min", "400 days"])
def test_a_slot_that_a_fast_clock_recorded_does_not_stop_its_job(two_nodes, conninfo, ahead):
    first, _ = two_nodes

    async def steps():
        slot = await first.begin("mail", HOUR, timedelta())
        await first.end("mail", slot, "")
        with psycopg.connect(conninfo, autocommit=True) as connection:
            connection.execute("UPDATE job_run SET slot = slot + %s::interval", [ahead])
        again = await first.begin("mail", HOUR, timedelta())
        await first.end("mail", again, "")
        afterwards = await first.begin("mail", HOUR, timedelta())
        await first.close()
        return slot, again, afterwards

    slot, again, afterwards = run(steps())
    assert again in {slot, slot + HOUR}
    assert afterwards is None


def test_a_failure_that_a_fast_clock_recorded_is_run_again(two_nodes, conninfo):
    first, _ = two_nodes

    async def steps():
        slot = await first.begin("mail", HOUR, timedelta())
        await first.end("mail", slot, "ValueError")
        with psycopg.connect(conninfo, autocommit=True) as connection:
            connection.execute("UPDATE job_run SET started_at = started_at + interval '5 h'")
        again = await first.begin("mail", HOUR, timedelta())
        await first.close()
        return again

    assert run(steps()) is not None


def test_a_slot_that_a_slightly_faster_clock_began_is_not_run_twice(two_nodes, conninfo):
    first, _ = two_nodes

    async def steps():
        slot = await first.begin("mail", HOUR, timedelta())
        await first.end("mail", slot, "")
        with psycopg.connect(conninfo, autocommit=True) as connection:
            connection.execute("UPDATE job_run SET slot = slot + interval '1 h'")
        again = await first.begin("mail", HOUR, timedelta())
        await first.close()
        return again

    assert run(steps()) is None
