"""Alert rules, dashboards and runbooks agree with each other and with what a node exposes."""

import json
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path

import pytest
from tests.docs.command_words import is_group, parse, words_of, written
from tests.support.programs import program

from mudra.console.pages.public.documentation import ROOT

DEPLOY = Path("deploy/prometheus")
REFERENCE = Path("docs/reference/metrics.md")
RUNBOOKS = sorted(Path("docs/operations/runbooks").glob("*.md"))
ALL_DASHBOARDS = sorted(Path("deploy/grafana").glob("*.json"))
OF_SQL = Path("deploy/grafana/network-days.json")
"""Its queries are run by tests/cli/test_metrics_export.py."""
DASHBOARDS = [one for one in ALL_DASHBOARDS if one != OF_SQL]
RULES = (DEPLOY / "mudra.rules.yml").read_text()
TESTS = sorted(DEPLOY.glob("*.tests.yml"))
SOURCES = (
    Path("src/mudra/jobs/telemetry.py"),
    Path("src/mudra/jobs/network_figures.py"),
    Path("src/mudra/bootstrap/observability/telemetry.py"),
    Path("src/mudra/bootstrap/observability/node_figures.py"),
)
SITE = f"https://tokens.network.example{ROOT}"
"""Of the documentation, where the service shows it."""
METRIC = re.compile(r"\b(?:[a-z]+:)?mudra[_:][a-z0-9_:]+")


def promtool(*words: str, folder: Path = DEPLOY) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [program("promtool"), *words], cwd=folder, capture_output=True, text=True, check=False
    )


def exposed() -> set[str]:
    """Names of metrics that the code declares, with those that Prometheus makes of them."""
    declared = set(re.findall(r'"(mudra_[a-z0-9_]+)"', " ".join(f.read_text() for f in SOURCES)))
    made = {f"{name}{end}" for name in declared for end in ("_bucket", "_count", "_sum", "_total")}
    return declared | made | set(re.findall(r"record: (\S+)", RULES))


def expressions(dashboard: Path) -> Iterator[str]:
    for panel in json.loads(dashboard.read_text())["panels"]:
        yield from (target["expr"] for target in panel["targets"])


@pytest.mark.slow
def test_promtool_takes_the_rules_and_their_tests() -> None:
    checked, tested = (
        promtool("check", "rules", "mudra.rules.yml"),
        promtool("test", "rules", *(one.name for one in TESTS)),
    )

    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert tested.returncode == 0, tested.stdout + tested.stderr


def test_each_alert_is_tested_and_has_a_runbook_of_its_own() -> None:
    alerts = re.findall(r"alert: (\w+)", RULES)
    linked = re.findall(r"runbook_url: (\S+)", RULES)
    tests = "".join(one.read_text() for one in TESTS)

    assert len(alerts) == len(linked) == 33
    assert [name for name in alerts if name not in tests] == []
    addresses = {f"{SITE}/operations/runbooks/{page.stem}.html": page for page in RUNBOOKS}
    assert sorted(linked) == sorted(addresses)
    for name, address in zip(alerts, linked, strict=True):
        page = addresses[address]
        text = page.read_text()
        assert text.startswith(f"# {name}\n"), page
        assert "## What to do" in text
        assert "**Over when:**" in text


def test_each_rule_is_evaluated_as_often_as_a_node_is_scraped() -> None:
    """Else Prometheus' default of a minute comes on top of the time for which an alert holds."""
    named = re.findall(r"- name: (\S+)", RULES)

    assert re.findall(r"- name: (\S+)\n    interval: 15s\n", RULES) == named


def test_rules_name_only_metrics_that_a_node_exposes() -> None:
    used = {name for name in METRIC.findall(RULES) if name != "mudra_"}

    assert used - exposed() == set()


@pytest.mark.parametrize("dashboard", DASHBOARDS, ids=lambda one: one.stem)
def test_a_dashboard_asks_for_what_there_is(dashboard: Path, tmp_path: Path) -> None:
    asked = [re.sub(r"\$\w+|\$\{\w+\}", "x", one) for one in expressions(dashboard)]

    check_queries(asked, tmp_path)


def test_a_query_of_the_reference_asks_for_what_there_is(tmp_path: Path) -> None:
    table = REFERENCE.read_text().partition("\n## Questions")[2].partition("\n## ")[0]
    asked = [row.split(" | ")[1].strip("`") for row in table.splitlines() if "mudra_" in row]

    assert len(asked) == 17
    check_queries(asked, tmp_path)


def check_queries(asked: Sequence[str], folder: Path) -> None:
    """Every expression is one that Prometheus parses, over metrics that a node exposes."""
    rules = [{"record": f"r{place}", "expr": one} for place, one in enumerate(asked)]
    (folder / "rules.yml").write_text(json.dumps({"groups": [{"name": "asked", "rules": rules}]}))
    assert {name for one in asked for name in METRIC.findall(one)} - exposed() == set()
    checked = promtool("check", "rules", "rules.yml", folder=folder)
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize("dashboard", DASHBOARDS, ids=lambda one: one.stem)
def test_what_a_dashboard_shows_by_name_comes_from_its_query(dashboard: Path) -> None:
    """A legend names labels that its expression keeps, a variable a metric that there is."""
    shown = json.loads(dashboard.read_text())
    for variable in shown["templating"]["list"]:
        if variable["type"] == "query":
            asked = re.fullmatch(r"label_values\((\w+), (\w+)\)", variable["query"])
            assert asked is not None, variable
            assert asked[1] in exposed()
    for target in (target for panel in shown["panels"] for target in panel["targets"]):
        kept = {
            label
            for labels in re.findall(r"\bby ?\(([^)]*)\)", target["expr"])
            for label in re.split(r",\s*", labels)
        }
        named = set(re.findall(r"\{\{\s*(\w+)\s*\}\}", target.get("legendFormat", "")))
        aggregated = re.search(r"\b(sum|max|min|avg|histogram_quantile)\b", target["expr"])
        assert not aggregated or named <= kept, target


@pytest.mark.parametrize("dashboard", ALL_DASHBOARDS, ids=lambda one: one.stem)
def test_a_dashboard_has_the_shape_that_grafana_reads(dashboard: Path) -> None:
    shown = json.loads(dashboard.read_text())
    panels = shown["panels"]

    assert shown["schemaVersion"] >= 36
    assert re.fullmatch(r"[a-z0-9-]{1,40}", shown["uid"])
    assert len({panel["id"] for panel in panels}) == len(panels)
    for panel in panels:
        assert panel["title"]
        source = "grafana-postgresql-datasource" if dashboard == OF_SQL else "prometheus"
        assert panel["datasource"] == {"type": source, "uid": "${source}"}
        refs = [target["refId"] for target in panel["targets"]]
        assert len(set(refs)) == len(refs) >= 1
        place = panel["gridPos"]
        assert 0 <= place["x"] <= place["x"] + place["w"] <= 24
    for one, other in combinations(panels, 2):
        assert not overlap(one["gridPos"], other["gridPos"]), (one["title"], other["title"])


def overlap(one: Mapping[str, int], other: Mapping[str, int]) -> bool:
    return all(
        one[at] < other[at] + other[size] and other[at] < one[at] + one[size]
        for at, size in (("x", "w"), ("y", "h"))
    )


@pytest.mark.parametrize("runbook", RUNBOOKS, ids=lambda one: one.stem)
def test_a_runbook_names_commands_and_options_that_there_are(runbook: Path) -> None:
    commands = [words for line in written(runbook.as_posix()) if (words := words_of(line))]

    assert list(filter(None, map(parse, commands))) == []
    assert list(filter(is_group, commands)) == []


@pytest.mark.parametrize(
    ("command", "wrong"),
    [
        ("mudra mail retry ID", ""),
        ("mudra mail retri ID", "mudra mail has no command retri"),
        ("mudra health deliverys WEBHOOK_ID", "mudra health has no command deliverys"),
        ("mudra mail list --faild", "mudra mail list has no option --faild"),
    ],
)
def test_a_command_with_an_argument_or_an_option_is_looked_at_whole(
    command: str, wrong: str
) -> None:
    words = words_of(command)

    assert words is not None
    assert parse(words) == wrong
