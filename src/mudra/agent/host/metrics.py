"""The agent's own metrics for Prometheus, read from its parts when they are asked for."""

from collections.abc import Callable, Iterator
from typing import Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from mudra.agent.host.assembly import Agent
from mudra.agent.spool.spool import Backlog

_PREFIX: Final = "mudra_agent"


class AgentCollector(Collector):
    """Reads an agent's parts at each scrape."""

    def __init__(self, agent: Agent, backlog: Callable[[], Backlog]) -> None:
        self._agent, self._backlog = agent, backlog

    def collect(self) -> Iterator[Metric]:
        """All metrics of this moment."""
        agent, backlog = self._agent, self._backlog()
        count, push = agent.recorder.counter.metrics, agent.pusher.metrics
        heard, follow = agent.context.metrics, agent.recorder.counter.sessions.metrics
        yield _counter("events", "Events counted", count.events)
        yield _labelled(
            "events_not_counted",
            "Events that were heard and could not be counted",
            {
                "late": count.late,
                "late_answer": count.late_answers,
                "unmatched": count.unmatched,
                "repeated": count.repeated,
                "unread_notice": count.unread_notifications,
                "over_limit": count.over_limit,
                "other_call": heard.other_calls,
                "unknown_peer": heard.unknown_peer,
                "unreadable": heard.unreadable,
                "out_of_time": heard.out_of_time,
            },
        )
        yield _labelled(
            "sessions_not_counted",
            "FI sessions without a time, or notifications beyond the last",
            {
                "never_ended": follow.never_ended,
                "without_request": follow.without_request,
                "repeated": follow.repeated,
            },
        )
        yield _labelled(
            "pushes",
            "Pushes by what became of them",
            {"delivered": push.delivered, "refused": push.refused, "failed": push.failed},
        )
        yield _counter("dropped_full", "Payloads dropped for age or room", push.dropped_full)
        yield _counter("clock_jumps", "Jumps of the machine's clock", agent.recorder.jumps)
        yield _gauge("backlog_payloads", "Payloads that wait", backlog.records)
        yield _gauge("backlog_bytes", "Bytes that wait", backlog.bytes)
        yield _gauge(
            "open_windows", "Windows being counted", len(agent.recorder.counter.windows.open)
        )
        yield _gauge("calls_under_way", "Calls without an answer", agent.recorder.counter.under_way)
        yield _gauge("sessions", "FI sessions remembered", len(agent.recorder.counter.sessions))
        yield _gauge(
            "disk_fault", "1 while the spool takes no writes", bool(agent.recorder.disk_fault)
        )
        yield _gauge("ready", "1 while /readyz is green", agent.health().ready)
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


def exposition(agent: Agent, backlog: Callable[[], Backlog]) -> Callable[[], bytes]:
    """A function that gives the metrics in Prometheus's text format."""
    registry = CollectorRegistry()
    registry.register(AgentCollector(agent, backlog))
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
