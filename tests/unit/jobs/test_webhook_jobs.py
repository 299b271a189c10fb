"""The jobs that deliver webhook messages count alarms and the public status apart."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest
from prometheus_client import REGISTRY

from mudra.jobs.metrics_jobs import metrics_jobs
from mudra.metrics.notifications.webhook import CHALLENGE, WaitingMessage
from mudra.metrics.rollup.retention import RetentionPolicy
from mudra.shared.secret_text import SecretText

NOW: Final = datetime(2026, 3, 4, 9, 30, tzinfo=UTC)
OF_ALARMS: Final = "mudra_webhook_messages_total"
OF_STATUS: Final = "mudra_status_webhook_messages_total"


def message(**more: str) -> WaitingMessage:
    made_at = NOW - timedelta(hours=24)
    return WaitingMessage(
        "m", "w", "https://it.example", SecretText("whsec_eA=="), b"{}", made_at, 9, **more
    )


class Queued:
    """One message of an alarm, made 24 hours ago, and one challenge of a subscription."""

    def __init__(self) -> None:
        self.due = {False: [message()], True: [message(event=CHALLENGE, subscription_id="s")]}
        self.given_up: list[WaitingMessage] = []

    async def take_due(
        self, _limit: int, _now: datetime, *, at_once_to_one: int, of_public: bool
    ) -> Sequence[WaitingMessage]:
        assert at_once_to_one >= 1
        return self.due.pop(of_public, [])

    async def still_taken(self, _message: WaitingMessage) -> bool:
        return True

    async def give_up(self, given_up: WaitingMessage, _problem: str) -> None:
        self.given_up.append(given_up)

    @asynccontextmanager
    async def open_work(self, *, within_s: float = 1.0) -> AsyncIterator[Any]:
        assert within_s > 0
        yield SimpleNamespace(messages=self, now=NOW)


async def refused(_message: WaitingMessage, _now: datetime) -> str:
    return "answered 500"


def counted(outcome: str) -> dict[str, float | None]:
    return {
        name: REGISTRY.get_sample_value(name, {"outcome": outcome})
        for name in (OF_ALARMS, OF_STATUS)
    }


@pytest.mark.parametrize(
    ("job", "counts", "other"),
    [("metrics-webhooks", OF_ALARMS, OF_STATUS), ("status-webhooks", OF_STATUS, OF_ALARMS)],
)
def test_a_challenge_that_a_stranger_fails_counts_as_no_alarm_given_up(
    job: str, counts: str, other: str
) -> None:
    queued = Queued()
    jobs = metrics_jobs(
        queued.open_work, RetentionPolicy(1, 1), refused, refused, Path(), asyncio.Lock()
    )
    (run,) = [one.run for one in jobs if one.name == job]
    before = counted("given up")
    asyncio.run(run())
    after = counted("given up")

    assert len(queued.given_up) == 1
    assert after == {counts: (before[counts] or 0) + 1, other: before[other]}


@pytest.mark.parametrize("outcome", ["sent", "failed", "given up"])
def test_both_counts_begin_at_zero_so_that_a_rule_sees_the_first(outcome: str) -> None:
    metrics_jobs(
        Queued().open_work, RetentionPolicy(1, 1), refused, refused, Path(), asyncio.Lock()
    )

    assert None not in counted(outcome).values()
