"""docs/reference/metrics.md: every Prometheus metric, from the objects that are exported."""

import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

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
from mudra.metrics.incidents.subject import SubjectKind
from mudra.shared.unavailable import Outage
from mudra.storage.database.replica import Place

RULES: Final = Path(__file__).resolve().parents[2] / "deploy" / "prometheus" / "mudra.rules.yml"
Rule: TypeAlias = dict[str, Any]
RUNBOOK: Final = re.compile(r"/operations/runbooks/([a-z-]+)\.html$")
_INTRO: Final = Path(__file__).with_name("metrics_intro.md")
_HEAD: Final = (
    "| metric | what | labels | type, unit; over nodes | alerts |",
    "|---|---|---|---|---|",
)
_GROUPS: Final = {
    "A node and its processes": (
        "ready", "workers", "unserved", "process", "build", "clock", "loop", "disk", "job",
    ),
    "Requests, tokens and keys": (
        "request", "requests", "credentials", "token", "tokens", "sign", "signing", "secrets",
        "certificate", "registry",
    ),
    "The database and its copies": (
        "database", "replica", "standby", "standbys", "backup",
    ),
    "The audit": ("audit",),
    "Email and webhooks": ("mail", "mails", "webhook", "status"),
    "The health of the network": ("fip", "health"),
    "Reports of AAs, and sums of them": ("metrics",),
}  # fmt: skip
"""Heading to the first words of the names below it."""
_EACH: Final = {
    "mudra_ready", "mudra_workers_serving", "mudra_build_info", "mudra_clock_ahead_seconds",
    "mudra_process_open_fds", "mudra_process_resident_memory_bytes", "mudra_disk_free_bytes",
    "mudra_replica_behind_bytes", "mudra_tokens_without_database_seconds",
}  # fmt: skip
"""Gauges of which each node has its own."""
_UNITS: Final = {
    "_timestamp_seconds": "seconds since the epoch",
    "_last_window_seconds": "seconds since the epoch",
    "_seconds": "seconds",
    "_bytes": "bytes",
    "_days": "days",
    "_ratio": "0 to 1",
}
_APIS: Final = "codes of [requests](metrics-payloads.md#request-metrics-req-fipmetrics-aa)"
_LABELS: Final = (
    ("api", (), _APIS),
    ("cause", Outage, "of `mudra_ready` and of database failures; `no-worker` too, empty: none"),
    ("cause", ("died", "hung"), "of restarts"),
    ("change", ("opened", "moved", "closed", "reopened", "withdrawn"), "of alarms"),
    ("disk", ("data", "log", "backup"), "or a directory of `MUDRA_WATCHED_DISKS`"),
    ("entity", (), "the ID of the member at the cause"),
    ("fip", (), "the ID of the FIP"),
    ("grain", ("window", "hour", "day"), "the length of what is summed"),
    ("job", (), "`exported_job` in Prometheus"),
    ("kind", SubjectKind, "of causes"),
    ("kind", ("calls", "reporting"), "of alarms: calls, or an AA whose reports are missing"),
    ("kind", ("issued", "refused"), "of lost token issues"),
    ("method", (), "of HTTP"),
    ("outcome", ("succeeded", "failed"), "of jobs"),
    ("outcome", ("sent", "failed"), "of mails; a failed one is tried again"),
    ("outcome", ("sent", "failed", "given up"), "of webhooks; given up after 24 hours"),
    ("outcome", ("equal", "different"), "of sums compared with reports"),
    ("outcome", ("compared", "failed"), "of the parts of a recount"),
    ("path", (), "the route, with names in place of IDs, such as `/metrics/perf/v1/push`"),
    ("peer", (), "the ID of the FIP of a path"),
    ("place", Place, "of reads for which a replica is set"),
    ("postgresql", (), "its version"),
    ("process", ("supervisor", "worker-0", "jobs", "database"), "workers are numbered"),
    ("reason", (), "of refused credentials, as the [audit](audit-events.md) has it"),
    ("schema", (), "the revision of the database's tables"),
    ("server", (), "host and port"),
    ("state", ("active", "idle", "idle-in-transaction", "other"), "of connections"),
    ("status", (), "of HTTP, three digits"),
    ("version", (), "of Mudra"),
)
"""Each label with its values, where they are few, and what they are of."""
_LIMITS: Final = {
    "MudraTokensFail": ("> 0.05", "5 %, and two in 2 minutes"),
    "MudraErrors": ("> 0.01", "1 %, of more than 0.1 a second"),
    "MudraSlow": ("> 1", "1 s"),
    "MudraClockWrong": ("> 1", "1 s"),
    "MudraProcessRestarts": ("> 3", "3"),
    "MudraConnectionsUsedUp": ("> 0.9", "90 % of those allowed"),
    "MudraAuditExportStuck": ("> 900", "15 minutes"),
    "MudraAuditUnsealed": ("> 900", "15 minutes"),
    "MudraGuessing": ("> 1000", "1,000"),
    "MudraBackupOld": ("+ 3600", "its schedule and an hour"),
}
"""Alert to its limit, as its rule has it and in words, where its summary shows the value alone."""


def metrics_page() -> str:
    """Return the page. Raises KeyError for a metric that is in no group."""
    rules = _rules()
    reading = [(one["alert"], one["expr"]) for one in rules]
    links = {one["alert"]: _linked(one) for one in rules}
    shown = "\n".join(
        f"| {links[one['alert']]} | {one['labels']['severity']} | {_limit(one)} |"
        f" {one.get('for', 'at once')} | {_said(one)} |"
        for one in rules
    )
    parts = [_INTRO.read_text(encoding="utf-8").format(alerts=shown), "## The service", ""]
    parts += ["A histogram has `_bucket`, `_sum` and `_count`.", ""]
    rows: dict[str, list[str]] = {heading: [] for heading in _GROUPS}
    for name, kind, labels, text in sorted(_of_service()):
        alerts = [links[alert] for alert, expression in reading if name in expression]
        joined = "per node" if name in _EACH else _joined(name, kind)
        rows[_heading(name)].append(
            f"| `{name}` | {text} | {_ticked(labels)} | {_typed(name, kind)}; {joined} |"
            f" {', '.join(alerts)} |"
        )
    for heading, found in rows.items():
        parts += [f"### {heading}", "", *_HEAD, *found, ""]
    parts += ["### Labels", "", "| label | values | what |", "|---|---|---|"]
    parts += [f"| `{label}` | {_ticked([*values])} | {text} |" for label, values, text in _LABELS]
    parts += ["", "## The agent", "", "An agent is one process: there is nothing to join.", ""]
    parts += ["| metric | what | values of `reason` | type, unit |", "|---|---|---|---|"]
    parts += [
        f"| `{name}` | {text} | {_ticked(reasons)} | {_typed(name, kind)} |"
        for name, kind, reasons, text in sorted(_of_agent())
    ]
    return "\n".join([*parts, ""])


def _heading(name: str) -> str:
    word = name.split("_")[1]
    (heading,) = [heading for heading, words in _GROUPS.items() if word in words]
    return heading


def _typed(name: str, kind: str) -> str:
    bare = name.removesuffix("_total")
    unit = next((unit for end, unit in _UNITS.items() if bare.endswith(end)), "")
    return f"{kind}, {unit}" if unit else kind


def _joined(name: str, kind: str) -> str:
    if kind != "gauge":
        return "sum"
    return "min" if name == "mudra_certificate_days" else "max"


def _ticked(names: Iterable[str]) -> str:
    return ", ".join(f"`{one}`" for one in names)


def _linked(rule: Rule) -> str:
    found = RUNBOOK.search(rule["annotations"]["runbook_url"])
    assert found is not None
    return f"[{rule['alert']}](../operations/runbooks/{found[1]}.md)"


def _said(rule: Rule) -> str:
    return re.sub(r"\{\{.*?\}\}", "…", rule["annotations"]["summary"])


def _limit(rule: Rule) -> str:
    written, words = _LIMITS.get(rule["alert"], ("", ""))
    assert written in rule["expr"], f"{rule['alert']} has another limit than {written}"
    return words


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
            reasons = [one.labels["reason"] for one in family.samples if one.labels]
            yield f"{family.name}{total}", family.type, reasons, family.documentation
        agent.recorder.close()


def _rules() -> Sequence[Rule]:
    """Return the alerts, recording rules in their expressions written out."""
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
            found.append({**rule, "expr": expression})
    return found
