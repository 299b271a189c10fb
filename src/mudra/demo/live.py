"""Runs the demonstration network: its agents, their AAs' traffic, and their history.

It is one process of the sandbox. Each AA's calls go as events to the HTTP source of a
real agent, which counts, closes windows and pushes with an Entity Access Token.
When the sandbox's clock moves, that time has passed for the network as well: agents
see it on both their clocks, and skipped windows are filled.
"""

import asyncio
import contextlib
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final

import httpx2
import msgspec
import structlog
import uvloop

from mudra.agent.host.assembly import Agent, assemble
from mudra.agent.host.config import read_config
from mudra.agent.host.run import run_agent
from mudra.client import SecretRefused
from mudra.demo.agent import (
    FIRST_PORT,
    AgentFiles,
    SandboxClock,
    fetch_secret,
    free_port,
    service_root,
    set_up,
)
from mudra.demo.calls import SendEvent, Systems
from mudra.demo.dependencies import Dependencies
from mudra.demo.history import demo_aas, fill_history, reported
from mudra.demo.network import FIRST_DAYS
from mudra.demo.past import DEMO_FIPS, Past
from mudra.demo.traffic import Traffic
from mudra.metrics.payload.catalogue import WINDOW, window_start
from mudra.metrics.rollup.coverage import TimeRange
from mudra.shared.unavailable import DatabaseUnavailable

STEP_S: Final = 1.0
SECRET_CHECK_S: Final = 60.0
MAX_FILLED: Final = timedelta(days=30)
MAX_UNREPORTED: Final = 5_000
_log = structlog.get_logger()

OnParentExit = Callable[[Callable[[], None]], None]
"""Calls its argument, in the running loop, when the parent process has ended."""


def live(dependencies: Dependencies, on_parent_exit: OnParentExit) -> None:
    """Runs the network until stopped, or until the supervisor has ended."""
    uvloop.run(_live(dependencies, on_parent_exit))


@dataclass(slots=True)
class _Aa:
    files: AgentFiles
    agent: Agent
    systems: Systems
    unsent: list[SendEvent] = field(default_factory=list)


async def _live(dependencies: Dependencies, on_parent_exit: OnParentExit) -> None:
    stop = asyncio.Event()
    on_parent_exit(stop.set)
    async with httpx2.AsyncClient(timeout=10, trust_env=False) as http:
        await _wait_until_ready(dependencies, http)
        await dependencies.time_machine.load()
        aas = [
            _aa(dependencies, aa_id, number)
            for number, aa_id in enumerate(await demo_aas(dependencies))
        ]
        for aa in aas:
            if not aa.files.secret.exists():
                await fetch_secret(aa.files, dependencies.settings, http)
        tasks = [
            asyncio.create_task(_follow(dependencies, aas), name="past"),
            asyncio.create_task(_feed(dependencies, aas, http), name="traffic"),
            asyncio.create_task(_replace_secrets(dependencies, aas, http), name="steward"),
        ]
        agents = [
            asyncio.create_task(run_agent(aa.agent, stop), name=f"agent of {aa.files.aa_id}")
            for aa in aas
        ]
        ended = await until_stopped(stop, tasks, agents)
    await dependencies.close()
    if ended:
        raise PartEnded(", ".join(task.get_name() for task in ended)) from ended[0].exception()


class PartEnded(Exception):
    """A part of the demonstration network ended unexpectedly: the supervisor restarts all."""


async def until_stopped(
    stop: asyncio.Event,
    tasks: Sequence[asyncio.Task[None]],
    agents: Sequence[asyncio.Task[int]],
) -> Sequence[asyncio.Task[int | None]]:
    """Waits until stopped, then ends all parts; returns those that had ended unexpectedly.

    A network without traffic or history would look alive, so the end of a part is never ignored.
    """
    stopped = asyncio.create_task(stop.wait())
    await asyncio.wait([stopped, *tasks, *agents], return_when=asyncio.FIRST_COMPLETED)
    ended = [] if stop.is_set() else [task for task in (*tasks, *agents) if task.done()]
    stop.set()  # agents store their counts
    for task in tasks:
        task.cancel()
    await asyncio.gather(stopped, *tasks, *agents, return_exceptions=True)
    return ended


def _aa(dependencies: Dependencies, aa_id: str, number: int) -> _Aa:
    files = AgentFiles(aa_id, dependencies.settings.data_dir / "agents" / aa_id)
    set_up(files, dependencies.settings, free_port(FIRST_PORT + number))
    dice = random.Random()  # noqa: S311  # not security-relevant
    agent = assemble(
        read_config(files.config),
        SandboxClock(dependencies.clock),
        dice.uniform,
        partial(_warn, aa_id),
        httpx2.AsyncHTTPTransport(),
    )
    return _Aa(files, agent, Systems(Traffic(DEMO_FIPS), dice))


def _warn(aa_id: str, sentence: str) -> None:
    # By name: structlog takes a second argument for a value of the first.
    _log.warning("agent", aa_id=aa_id, said=sentence)


async def _wait_until_ready(dependencies: Dependencies, http: httpx2.AsyncClient) -> None:
    while True:
        with contextlib.suppress(httpx2.HTTPError):
            if (await http.get(f"{service_root(dependencies.settings)}/readyz")).is_success:
                return
        await asyncio.sleep(STEP_S)


async def _follow(dependencies: Dependencies, aas: Sequence[_Aa]) -> None:
    """Follows the sandbox's clock; fills unreported windows at the start and after each jump."""
    filled_to = dependencies.clock() - timedelta(days=FIRST_DAYS)
    while True:
        try:
            await dependencies.time_machine.load()
            now = dependencies.clock()
            if now - filled_to > 2 * WINDOW:
                await _fill(
                    dependencies,
                    aas,
                    TimeRange(max(filled_to, now - MAX_FILLED), window_start(now)),
                )
            filled_to = now
        except DatabaseUnavailable as error:
            _log.warning("the demonstration network waits for the database", error=str(error))
        await asyncio.sleep(STEP_S)


async def _fill(dependencies: Dependencies, aas: Sequence[_Aa], within: TimeRange) -> None:
    pending = [(aa.files.aa_id, window) for aa in aas for window in _pending(aa.agent)]
    ids = [aa.files.aa_id for aa in aas]
    received = await reported(dependencies, ids, within)
    past = Past(Traffic(DEMO_FIPS), within, left_out={*received, *pending})
    payloads = await fill_history(dependencies, past, ids, lambda: None)
    _log.info("the past of the demonstration network is filled", payloads=payloads)


def _pending(agent: Agent) -> list[datetime]:
    """Returns the windows that the agent will report itself."""
    queued = agent.recorder.spool.queued()
    starts = {one.window for one in queued} | set(agent.recorder.counter.windows.open)
    return [datetime.fromtimestamp(start / 1000, UTC) for start in starts]


async def _feed(dependencies: Dependencies, aas: Sequence[_Aa], http: httpx2.AsyncClient) -> None:
    """Sends each agent the events of its AA's systems; retries those that did not arrive."""
    while True:
        for aa in aas:
            aa.unsent += aa.systems.until(int(dependencies.clock().timestamp() * 1000))
            if not aa.unsent:
                continue
            events, aa.unsent = aa.unsent, []
            url = f"http://{aa.agent.config.http.listen[0]}/sna/v1/aa"
            try:
                response = await http.post(
                    url,
                    content=msgspec.json.encode(events),
                    headers={"Content-Type": "application/json"},
                )
                response.raise_for_status()
            except httpx2.HTTPError as error:
                aa.unsent = events[-MAX_UNREPORTED:]
                _log.info("the agent takes no events yet", error=type(error).__name__)
        await asyncio.sleep(STEP_S)


async def _replace_secrets(
    dependencies: Dependencies, aas: Sequence[_Aa], http: httpx2.AsyncClient
) -> None:
    """Fetches the new secret after a rotation, as an AA's operations team would."""
    while True:
        await asyncio.sleep(SECRET_CHECK_S)
        for aa in aas:
            tokens = aa.agent.tokens
            if tokens.warning is not None or isinstance(tokens.error, SecretRefused):
                await fetch_secret(aa.files, dependencies.settings, http)
