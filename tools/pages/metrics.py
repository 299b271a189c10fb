"""docs/reference/metrics.md: every Prometheus metric, from the objects that are exported."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec
from prometheus_client.metrics import MetricWrapperBase

from mudra.agent.clock import MachineClock
from mudra.agent.host.assembly import assemble
from mudra.agent.host.config import Config
from mudra.agent.host.metrics import AgentCollector
from mudra.bootstrap.observability import telemetry as of_requests
from mudra.bootstrap.observability.node_figures import NodeFigures
from mudra.jobs import telemetry as of_jobs
from mudra.jobs.network_figures import FAMILIES

RULES: Final = Path(__file__).resolve().parents[2] / "deploy" / "prometheus" / "mudra.rules.yml"
_INTRO: Final = """---
hide: [toc]
---
# Metrics

Made by `make docs` from the metrics themselves. A service shows its own at `/metrics` on
`MUDRA_TELEMETRY_PORT`, for all processes of the node; an agent at `/metrics` of `http.listen`. A
histogram has `_bucket`, `_sum` and `_count`. The last column names the
[alerts](../operations/running.md#alarms) that read the metric.
"""
_HEAD: Final = ("| metric | type | labels | what | alerts |", "|---|---|---|---|---|")


def metrics_page() -> str:
    """Return the page."""
    alerts = _alerts()
    return "\n".join(
        [
            _INTRO,
            "## The service",
            "",
            *_HEAD,
            *(_row(*one, alerts) for one in sorted(_of_service())),
            "",
            "## The agent",
            "",
            *_HEAD,
            *(_row(*one, alerts) for one in sorted(_of_agent())),
            "",
        ]
    )


def _row(
    name: str, kind: str, labels: Sequence[str], text: str, alerts: Sequence[tuple[str, str]]
) -> str:
    reading = [alert for alert, expression in alerts if name in expression]
    shown = ", ".join(f"`{label}`" for label in labels)
    return f"| `{name}` | {kind} | {shown} | {text} | {', '.join(reading)} |"


def _of_service() -> Iterator[tuple[str, str, Sequence[str], str]]:
    for module in (of_jobs, of_requests):
        for metric in vars(module).values():
            if isinstance(metric, MetricWrapperBase):
                (family,) = list(metric.describe())
                total = "_total" if family.type == "counter" else ""
                labels = metric._labelnames  # noqa: SLF001  # the library has no other way
                yield f"{family.name}{total}", family.type, labels, family.documentation
    for family in NodeFigures(lambda: {"worker-0": os.getpid()}, lambda: (True, "")).collect():
        total = "_total" if family.type == "counter" else ""
        labels = sorted({name for one in family.samples for name in one.labels})
        yield f"{family.name}{total}", family.type, labels, family.documentation
    for one in FAMILIES:
        yield one.name, one.empty().type, one.labels, one.text


def _of_agent() -> Iterator[tuple[str, str, Sequence[str], str]]:
    """Yield what a new agent shows; what it shows only after an event is set."""
    source = {"value": "AA-1"}
    with tempfile.TemporaryDirectory() as folder:
        config = msgspec.convert(
            {
                "aa_id": "AA-1",
                "directory": f"{folder}/spool",
                "operator": {"token_url": "https://o.example/iam", "push_url": "https://o.example"},
                "credentials": {"id": source, "registered": True},
            },
            Config,
        )
        agent = assemble(config, MachineClock(), lambda low, _: low, lambda _: None)
        agent.pusher.metrics.last_delivery = agent.pusher.metrics.clock_offset = 1
        agent.recorder.last_event = 1
        for family in AgentCollector(agent).collect():
            total = "_total" if family.type == "counter" else ""
            labels = sorted({name for one in family.samples for name in one.labels})
            yield f"{family.name}{total}", family.type, labels, family.documentation
        agent.recorder.close()


def _alerts() -> Sequence[tuple[str, str]]:
    """Return each alert with its expression, recording rules written out."""
    rules = [
        rule
        for group in msgspec.yaml.decode(RULES.read_bytes())["groups"]
        for rule in group["rules"]
    ]
    recorded = {rule["record"]: rule["expr"] for rule in rules if "record" in rule}
    found = []
    for rule in rules:
        if "alert" in rule:
            expression = rule["expr"]
            for name, meant in recorded.items():
                expression = expression.replace(name, meant)
            found.append((rule["alert"], expression))
    return found
