"""Two Prometheus next to each other, and what each knows of its alerts.

The first has the rules as they are shipped. The second has a copy in which no duration is longer
than five minutes, and nothing else is changed: what holds for hours by design ends there while one
waits.
"""

import contextlib
import json
import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import httpx2
from msgspec import Struct
from tests.support.http_clients import NO_TLS
from tests.support.programs import program

from bench.sizes import sized
from bench.support import free_port

RULES: Final = Path("deploy/prometheus/mudra.rules.yml")
FASTER: Final = float(os.environ.get("ALERTS_FASTER", "") or sized(1, 15))
SCRAPE_S: Final = 15.0
TARGETS: Final = "targets.json"
_LONGEST_S: Final = 300
"""A rule that holds or looks back for longer is waited for in the copy."""
_DURATION: Final = re.compile(r"\b([0-9]+)([smhd])\b")
_RANGE: Final = re.compile(r"\[([0-9]+)([smhd])[]:]")
_MS: Final = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_BAD_TEXT: Final = re.compile(r"<no value>|<error|%!|NaN|^\s*$|\d\.\d+ (?!days)")
"""Without a value, or with a part of one where things are counted."""


class Ringing(Struct, frozen=True):
    """An alert that is pending or fires, of all its series the one that is furthest."""

    fires: bool
    severity: str
    texts: tuple[str, ...]

    def faults_of_text(self) -> list[str]:
        """Return the texts that lack a value."""
        return [one for one in self.texts if _BAD_TEXT.search(one)]


class Rule(Struct, frozen=True):
    """The patience of a rule."""

    holds_s: float
    looks_back_s: float

    @property
    def fires_late(self) -> bool:
        """Return whether it fires only long after it is pending."""
        return self.holds_s > _LONGEST_S

    @property
    def ends_late(self) -> bool:
        """Return whether it goes on long after the fault is over."""
        return max(self.holds_s, self.looks_back_s) > _LONGEST_S


class Prometheus(Struct, frozen=True):
    """A running Prometheus."""

    address: str

    def ringing(self) -> dict[str, Ringing]:
        """Return the alerts that are pending or fire, by name."""
        found: dict[str, Ringing] = {}
        for one in self._asked("alerts")["alerts"]:
            name, labels = one["labels"]["alertname"], one["labels"]
            so_far = found.get(name)
            texts = (*(so_far.texts if so_far else ()), one["annotations"]["summary"])
            fires = one["state"] == "firing" or (so_far is not None and so_far.fires)
            found[name] = Ringing(fires, labels["severity"], texts)
        return found

    def rules(self) -> dict[str, Rule]:
        """Return how patient each alert is."""
        return {
            one["name"]: Rule(
                one["duration"],
                max((_ms(*at) / 1000 for at in _RANGE.findall(one["query"])), default=0.0),
            )
            for group in self._asked("rules")["groups"]
            for one in group["rules"]
            if one["type"] == "alerting"
        }

    def is_watching(self) -> bool:
        """Return whether the node was scraped several times, with tokens asked for."""
        with contextlib.suppress(httpx2.HTTPError):  # Prometheus is starting
            query = 'count_over_time(mudra_requests_total{path=~".*token/generate"}[10m])'
            found = self._asked("query", query=query)["result"]
            return max((int(one["value"][1]) for one in found), default=0) > 2
        return False

    def _asked(self, what: str, **query: str) -> Any:
        answer = httpx2.get(
            f"{self.address}/api/v1/{what}", params=query, timeout=10, verify=NO_TLS
        )
        answer.raise_for_status()
        return answer.json()["data"]


class Watch(Struct, frozen=True):
    """Both of them."""

    shipped: Prometheus
    short: Prometheus


@contextlib.contextmanager
def watch(folder: Path, *telemetry: int) -> Iterator[Watch]:
    """Run both until the end of the block; they scrape the ports that `targets.json` has."""
    scrape(folder, *telemetry)
    rules = RULES.read_text()
    with (
        _prometheus(folder, "shipped", _faster(rules)) as shipped,
        _prometheus(folder, "short", _faster(_shortened(rules))) as short,
    ):
        yield Watch(shipped, short)


def scrape(folder: Path, *telemetry: int) -> None:
    """Let both scrape these ports from now on."""
    draft, file = folder / "targets.new", folder / TARGETS
    draft.write_text(json.dumps([{"targets": [f"127.0.0.1:{port}" for port in telemetry]}]))
    draft.replace(file)


@contextlib.contextmanager
def _prometheus(folder: Path, name: str, rules: str) -> Iterator[Prometheus]:
    own = folder / name
    own.mkdir()
    (own / RULES.name).write_text(rules)
    _check(own / RULES.name)
    config, place = own / "prometheus.yml", f"127.0.0.1:{free_port()}"
    every = f"{SCRAPE_S * 1000 / FASTER:.0f}ms"
    config.write_text(
        f"global: {{scrape_interval: {every}, scrape_timeout: {every}}}\n"
        f"rule_files: [{RULES.name}]\n"
        "scrape_configs:\n  - job_name: mudra\n"
        f"    file_sd_configs: [{{files: [../{TARGETS}], refresh_interval: 5s}}]\n"
    )
    words: Sequence[str | Path] = [
        Path(program("promtool")).with_name("prometheus"),
        f"--config.file={config}",
        f"--storage.tsdb.path={own / 'series'}",
        f"--web.listen-address={place}",
    ]
    with (own / "prometheus.log").open("w") as log:
        process = subprocess.Popen(words, stdout=log, stderr=log)
    try:
        yield Prometheus(f"http://{place}")
    finally:
        process.terminate()
        process.wait(30)


def _check(rules: Path) -> None:
    subprocess.run([program("promtool"), "check", "rules", rules], check=True, capture_output=True)


def _ms(number: str, unit: str) -> int:
    return int(number) * _MS[unit]


def _shortened(rules: str) -> str:
    """Return the rules without a duration over five minutes."""

    def short(at: re.Match[str]) -> str:
        return at[0] if _ms(at[1], at[2]) <= _LONGEST_S * 1000 else f"{_LONGEST_S}s"

    return _DURATION.sub(short, rules)


def _faster(rules: str) -> str:
    """Return the rules with each duration divided; names such as `rate5m` are no durations."""
    if FASTER == 1:
        return rules
    return _DURATION.sub(lambda at: f"{_ms(at[1], at[2]) / FASTER:.0f}ms", rules)
