"""The scheduler runs what is due, at once what it is woken for, and stops in time."""

import asyncio
from datetime import UTC, datetime, timedelta

from tests.support.until import PATIENCE_S

from mudra.jobs.scheduler import Job, Scheduler
from mudra.shared.unavailable import DatabaseUnavailable

NOW = datetime(2026, 3, 4, 9, 30, 20, tzinfo=UTC)


class Runs:
    """Every slot is due once."""

    def __init__(self) -> None:
        self.done: set[str] = set()
        self.ended: list[tuple[str, str]] = []

    async def begin(self, name: str, _every: timedelta, _offset: timedelta) -> datetime | None:
        if name in self.done:
            return None
        self.done.add(name)
        return NOW

    async def end(self, name: str, _slot: datetime, error: str) -> None:
        self.ended.append((name, error))


def schedule(*jobs: Job, runs: Runs | None = None) -> tuple[Scheduler, Runs, list[tuple[str, str]]]:
    counted: list[tuple[str, str]] = []
    runs = runs or Runs()
    count = lambda name, outcome: counted.append((name, outcome))  # noqa: E731
    return Scheduler(jobs, runs, lambda: NOW, count), runs, counted


def job(run, name="mail", every=timedelta(minutes=1), **more) -> Job:
    return Job(name=name, every=every, run=run, **more)


async def run_until(scheduler: Scheduler, done: asyncio.Event) -> None:
    stop = asyncio.Event()
    running = asyncio.create_task(scheduler.run(stop))
    await asyncio.wait_for(done.wait(), PATIENCE_S)
    stop.set()
    await running


def test_a_due_job_runs_and_its_success_is_recorded():
    async def story():
        done = asyncio.Event()

        async def send() -> None:
            done.set()

        scheduler, runs, counted = schedule(job(send))
        await run_until(scheduler, done)
        return runs.ended, counted

    assert asyncio.run(story()) == ([("mail", "")], [("mail", "succeeded")])


def test_a_job_that_fails_is_recorded_and_stops_no_other():
    async def story():
        done = asyncio.Event()

        async def fail() -> None:
            raise ValueError

        async def send() -> None:
            done.set()

        scheduler, runs, counted = schedule(job(fail, "keys"), job(send))
        await run_until(scheduler, done)
        return sorted(runs.ended), sorted(counted)

    ended, counted = asyncio.run(story())
    assert ended == [("keys", "ValueError"), ("mail", "")]
    assert counted == [("keys", "failed"), ("mail", "succeeded")]


def test_a_job_that_waits_for_what_does_not_answer_is_ended_and_has_failed():
    async def story():
        done = asyncio.Event()

        async def hang() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                done.set()

        scheduler, runs, counted = schedule(job(hang, limit=timedelta(milliseconds=1)))
        await run_until(scheduler, done)
        return runs.ended, counted

    assert asyncio.run(story()) == ([("mail", "TimeoutError")], [("mail", "failed")])


def test_a_job_runs_at_once_after_the_change_that_wakes_it():
    async def story():
        ran: list[str] = []
        twice = asyncio.Event()

        async def send() -> None:
            twice.set() if "mail" in ran else scheduler.wake("outbox")
            ran.append("mail")

        async def other() -> None:
            ran.append("keys")

        scheduler, _, _ = schedule(job(send, wake_on="outbox"), job(other, "keys"))
        await run_until(scheduler, twice)
        return ran.count("keys")

    assert asyncio.run(story()) == 1


def test_a_moved_clock_wakes_the_jobs_that_follow_it_and_no_others():
    mail = job(None, wake_on="outbox", follows_clock=True)
    daily = job(None, "recount")

    assert mail.is_woken_by("clock:1000")
    assert mail.is_woken_by("*")
    assert mail.is_woken_by("outbox")
    assert not mail.is_woken_by("webhooks")
    assert not daily.is_woken_by("clock:1000")
    assert not daily.is_woken_by("")


def test_a_database_that_is_away_is_waited_for():
    async def story():
        asked = asyncio.Event()

        class Away(Runs):
            async def begin(self, *_: object) -> None:
                asked.set()
                raise DatabaseUnavailable

        scheduler, _, counted = schedule(job(None), runs=Away())
        await run_until(scheduler, asked)
        return counted

    assert asyncio.run(story()) == []


def test_a_run_that_does_not_end_is_cancelled_after_the_stop(monkeypatch):
    monkeypatch.setattr("mudra.jobs.scheduler.STOP_S", 0.01)

    async def story():
        begun = asyncio.Event()

        async def hang() -> None:
            begun.set()
            await asyncio.Event().wait()

        scheduler, runs, _ = schedule(job(hang))
        await run_until(scheduler, begun)
        return runs.ended

    assert asyncio.run(story()) == []


def test_a_job_that_others_run_is_forgotten_after_some_periods():
    async def story():
        forgotten = asyncio.Event()

        async def send() -> None:
            raise AssertionError("another node has every slot")

        shown = job(send, every=timedelta(milliseconds=20), forget=forgotten.set)
        runs = Runs()
        runs.done.add("mail")
        scheduler, _, _ = schedule(shown, runs=runs)
        await run_until(scheduler, forgotten)

    asyncio.run(story())


def test_a_job_that_ran_here_just_now_is_not_forgotten():
    async def story():
        forgotten, again = [], asyncio.Event()

        class Mine(Runs):
            async def begin(self, name: str, every: timedelta, offset: timedelta):
                slot = await super().begin(name, every, offset)
                if slot is None:
                    again.set()
                return slot

        async def send() -> None:
            pass

        shown = job(send, forget=lambda: forgotten.append("mail"))
        scheduler, _, _ = schedule(shown, runs=Mine())
        scheduler._wait_s = lambda _: 0.01  # a period passes at once, real time does not
        await run_until(scheduler, again)
        return forgotten

    assert asyncio.run(story()) == []


def test_jobs_that_are_due_together_begin_one_after_the_other():
    async def story():
        names = [f"job {number}" for number in range(9)]
        under_way, together, done = set(), [], asyncio.Event()

        def named(name: str) -> Job:
            async def look() -> None:
                under_way.add(name)
                await asyncio.sleep(0)
                together.append(len(under_way))
                under_way.remove(name)
                if len(together) == len(names):
                    done.set()

            return job(look, name)

        scheduler, _, _ = schedule(*map(named, names))
        await run_until(scheduler, done)
        return together

    assert asyncio.run(story()) == [1] * 9


def test_a_job_that_takes_long_keeps_no_other_from_its_run():
    async def story():
        done, never = asyncio.Event(), asyncio.Event()

        async def wait_for_a_server() -> None:
            await never.wait()

        async def look() -> None:
            done.set()
            never.set()

        slow = [job(wait_for_a_server, f"slow {number}") for number in range(3)]
        scheduler, _, _ = schedule(*slow, job(look, "quick"))
        await run_until(scheduler, done)

    asyncio.run(story())


def test_a_job_that_is_woken_while_it_waits_for_its_turn_runs_once():
    async def story():
        ran, done = [], asyncio.Event()
        scheduler: Scheduler

        async def wake() -> None:
            await asyncio.sleep(0)  # until the others wait for their turns
            scheduler.wake("mail")

        async def send() -> None:
            ran.append("mail")

        async def look() -> None:  # its second turn is behind any second one of another job
            if "last" in ran:
                done.set()
            else:
                scheduler.wake("again")
            ran.append("last")

        jobs = (job(wake, "first"), job(send, wake_on="mail"), job(look, "last", wake_on="again"))
        scheduler, _, _ = schedule(*jobs)
        await run_until(scheduler, done)
        return ran

    assert asyncio.run(story()) == ["mail", "last", "last"]
