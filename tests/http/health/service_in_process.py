"""A service in this process, of whose jobs those run that judge windows and notify.

A window of a test takes half of what it takes of a service with processes of its own: there each
move of the clock wakes a dozen jobs, and each request goes through two sockets. It has no log, no
figures and no address to which another program could speak.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

import httpx2
from tests.support.database.template_database import prepare
from tests.support.in_process import InProcess, in_process
from tests.support.service import Service

from mudra.bootstrap.config import load_settings
from mudra.bootstrap.dependencies import Dependencies
from mudra.bootstrap.node.serve import open_store
from mudra.jobs.key_rotation import maintain_keys
from mudra.jobs.metrics_jobs import detect_incidents
from mudra.jobs.retry_delay import pause_after, public_pause_after
from mudra.jobs.webhook_delivery import (
    Delivery,
    deliver_messages,
)
from mudra.metrics.notifications.webhook import WEBHOOKS_CHANGED, WaitingMessage
from mudra.metrics.subscriptions.subscription_store import SUBSCRIPTION_ASKED
from mudra.metrics.subscriptions.write_emails import StatusEmails
from mudra.webhook.public_calls import post_public
from mudra.webhook.send import post_signed

WORK_S = 60.0

T = TypeVar("T")
_CONNECTIONS: Final = 4
_NO_PROCESS: Final[Any] = None


class ServiceInProcess(Service):
    """What tests use of a running service; its clients speak from one address."""

    judges = True
    """Whether windows are judged: after weeks without a job each takes a look of its own."""

    def __init__(self, served: InProcess, environment: dict[str, str]) -> None:
        settings = served.edge.dependencies.settings
        super().__init__(_NO_PROCESS, settings.issuer, settings.data_dir, environment)
        self._served = served
        self._one_at_a_time = asyncio.Lock()
        self._is_woken = False
        self._woken: set[asyncio.Task[None]] = set()
        served.edge.dependencies.invalidation.on_change(self._changed)

    def client(self, address: str | None = None, kept: int = 0) -> httpx2.Client:
        """A client, all of which are at the same address and keep no connection."""
        assert address is None
        assert not kept
        plain = {"Accept-Encoding": "identity"}  # what is packed comes unpacked out of `InProcess`
        return httpx2.Client(transport=self._served, base_url=self.issuer, headers=plain)

    def advance(self, duration: str) -> datetime:
        """Move the clock forward and run the jobs; give the time then."""
        moved = {"advance": duration}
        answer = self._served.client().post("/sandbox/v1/clock", json=moved)
        assert answer.status_code == 200, answer.text
        if duration != "PT0S":
            self._served.do(self._run_jobs())
        return datetime.fromisoformat(answer.json()["now"])

    def in_store(self, act: Callable[[Dependencies], Awaitable[T]]) -> T:
        """Act on the data as the worker itself."""

        async def acting() -> T:
            return await act(self._served.edge.dependencies)

        done: T = self._served.do(acting())
        return done

    def finish(self) -> None:
        """Wait until no job runs."""

        async def ended() -> None:
            await asyncio.gather(*self._woken)

        self._served.do(ended())

    def _changed(self, key: str) -> None:
        """Run the jobs at once for what people asked for, as their scheduler does."""
        if key in {WEBHOOKS_CHANGED, SUBSCRIPTION_ASKED} and not self._is_woken:
            self._is_woken = True
            task = self._served.loop.create_task(self._run_jobs())
            self._woken.add(task)
            task.add_done_callback(self._woken.discard)

    async def _run_jobs(self) -> None:
        """Judge windows, write to the public, and post what waits."""
        dependencies = self._served.edge.dependencies

        async def post(message: WaitingMessage, now: datetime) -> str:
            return await post_signed(message, now, dependencies.reach)

        async def to_public(message: WaitingMessage, now: datetime) -> str:
            return await post_public(message, now, dependencies.public_reach)

        tx, status = dependencies.metrics_maintenance, dependencies.public_status
        async with self._one_at_a_time:
            self._is_woken = False
            if self.judges:
                await detect_incidents(tx)
            await StatusEmails(dependencies.transaction, dependencies.languages, status).write()
            for posted, pause, of_public in (
                (post, pause_after, False),
                (to_public, public_pause_after, True),
            ):
                messages = partial(tx, within_s=WORK_S)
                await deliver_messages(messages, posted, pause, _note_nothing, of_public=of_public)


def _note_nothing(_: Delivery) -> None:
    """Count no messages: there are no figures."""


@contextlib.contextmanager
def service_in_process(data_dir: Path, **variables: str) -> Iterator[ServiceInProcess]:
    """Serve a database of its own in this process."""
    prepare(data_dir)
    environment = {
        "MUDRA_DATA_DIR": str(data_dir),
        "MUDRA_ARGON2_MEMORY_MIB": "19",
        "MUDRA_SIGN_IN_HOURLY": "1000",
        **variables,
    }
    settings = load_settings(environment, {"sandbox": True})
    with (
        open_store(settings, create=True) as opened,
        in_process(settings, *opened, connections=_CONNECTIONS) as served,
    ):
        served.do(maintain_keys(served.edge.dependencies.transaction))
        service = ServiceInProcess(served, environment)
        yield service
        service.finish()
