"""The agent's own metrics for Prometheus, read from its parts at each scrape."""

from collections.abc import Callable, Iterator
from typing import Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from mudra.agent.host.assembly import Agent
from mudra.agent.sources.left_out import Reason

_PREFIX: Final = "mudra_agent"


class AgentCollector(Collector):
    """Reads an agent's parts at each scrape."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    def collect(self) -> Iterator[Metric]:
        """Return all metrics as they are now."""
        yield from self._events()
        yield from self._deliveries()
        yield from self._present()

    def _events(self) -> Iterator[Metric]:
        agent = self._agent
        counter, source = agent.recorder.counter.metrics, agent.context.metrics
        sessions = agent.recorder.counter.sessions.metrics
        yield _counter("events", "Events counted", counter.events)
        yield _labelled(
            "events_not_counted",
            "Events that came and could not be counted",
            {
                "late": counter.late,
                "late_answer": counter.late_answers,
                "unmatched": counter.unmatched,
                "repeated": counter.repeated,
                "unread_notice": counter.unread_notifications,
                "over_limit": counter.over_limit,
                **{reason.value: source.counts[reason] for reason in Reason},
            },
        )
        yield _labelled(
            "sessions_not_counted",
            "FI sessions without a time, or notifications beyond the last",
            {
                "never_ended": sessions.never_ended,
                "without_request": sessions.without_request,
                "repeated": sessions.repeated,
            },
        )
        yield _counter(
            "sessions_recovered",
            "FI sessions that succeeded after their failure was counted",
            sessions.recovered,
        )

    def _deliveries(self) -> Iterator[Metric]:
        agent, push = self._agent, self._agent.pusher.metrics
        yield _labelled(
            "pushes",
            "Pushes by outcome",
            {"delivered": push.delivered, "refused": push.refused, "failed": push.failed},
        )
        yield _counter(
            "windows_reported_again",
            "Pushed windows that late events changed",
            agent.recorder.counter.windows.reopened,
        )
        yield _counter("dropped_full", "Payloads dropped for age or room", push.dropped_full)
        yield _counter("clock_jumps", "Jumps of the machine's clock", agent.recorder.clock_jumps)
        if push.last_delivery is not None:
            yield _gauge(
                "last_delivery_timestamp_seconds", "The last receipt", push.last_delivery / 1000
            )
        if push.clock_offset is not None:
            yield _gauge(
                "clock_offset_seconds",
                "How far the operator's clock is ahead",
                push.clock_offset / 1000,
            )

    def _present(self) -> Iterator[Metric]:
        agent, backlog = self._agent, self._agent.recorder.spool.backlog()
        yield _gauge("backlog_payloads", "Payloads that wait", backlog.payloads)
        yield _gauge("backlog_bytes", "Bytes that wait", backlog.bytes)
        open_windows = agent.recorder.counter.windows.open.values()
        yield _gauge(
            "open_windows", "Open windows with calls", sum(bool(one.fips) for one in open_windows)
        )
        yield _gauge("calls_under_way", "Calls without an answer", agent.recorder.counter.pending)
        yield _gauge("sessions", "FI sessions remembered", len(agent.recorder.counter.sessions))
        yield _gauge(
            "disk_fault", "1 while the spool accepts no writes", bool(agent.recorder.disk_error)
        )
        yield _gauge("ready", "1 while /readyz is green", agent.health().ready)
        if agent.recorder.last_event is not None:
            yield _gauge(
                "last_event_timestamp_seconds", "The last event", agent.recorder.last_event / 1000
            )


def exposition(agent: Agent) -> Callable[[], bytes]:
    """Return a function that writes the metrics in Prometheus's text format."""
    registry = CollectorRegistry()
    registry.register(AgentCollector(agent))
    return lambda: generate_latest(registry)


def _counter(name: str, text: str, value: float) -> Metric:
    return CounterMetricFamily(f"{_PREFIX}_{name}", text, value=value)


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(f"{_PREFIX}_{name}", text, value=float(value))


def _labelled(name: str, text: str, values: dict[str, int]) -> Metric:
    family = CounterMetricFamily(f"{_PREFIX}_{name}", text, labels=["reason"])
    for reason, value in values.items():
        family.add_metric([reason], value)
    return family
