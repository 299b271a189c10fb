"""Faults for real, and the seconds until Prometheus pages by the rules that are shipped.

    python -m bench.alerts [ALERT ...]

The node is scraped every 15 s as the how-to says, and asked for tokens all the time. What is about
processes has a service of its own: once nothing fires the fault begins, and goes on until the
alert fires. What stays once it is made (`lasting_faults.py`, needs root for a disk) is made one
after the other in one service.
Goal: two minutes. `ALERTS_FASTER` divides the scrape interval and every duration of the rules; a
short run does so by 15 and takes one fault. It needs `prometheus` and `promtool`, which Debian has
in one package.
"""

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import httpx2
from msgspec import Struct
from tests.support.database.own_postgres import own_postgres
from tests.support.http_clients import NO_TLS
from tests.support.programs import program

from bench.entity_token import make_members
from bench.lasting_faults import LASTING, Broken, environment_of, small_disk, until_ready
from bench.sizes import exit_code, sized
from bench.support import (
    RunningService,
    data_directory,
    database_kept_up,
    forks,
    free_port,
    postmaster,
    say,
    scratch,
    worker_pids,
)

RULES: Final = Path("deploy/prometheus/mudra.rules.yml")
FASTER: Final = float(os.environ.get("ALERTS_FASTER", "") or sized(1, 15))
GOAL_S: Final = 120.0
SCRAPE_S: Final = 15.0
TOO_LONG_S: Final = 600.0
TICK_S: Final = 0.5
TOKENS: Final = "/iam/v1/entity/token/generate"
WORKERS: Final = 2
_DURATION: Final = re.compile(r"\b([0-9]+)([smh])\b")
_MS: Final = {"s": 1_000, "m": 60_000, "h": 3_600_000}


class Node(Struct, frozen=True):
    """A running service, and where its database is."""

    supervisor: int
    data_dir: Path

    def everything(self) -> list[int]:
        """Its processes."""
        return [self.supervisor, *forks(self.supervisor)]

    def database(self) -> list[int]:
        """The processes of its PostgreSQL."""
        first = postmaster(self.data_dir)
        children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
        return [first, *map(int, children)]


def kill_workers(node: Node) -> None:
    """Its workers die again and again."""
    with contextlib.suppress(KeyError):  # one is being started
        _signal(worker_pids(node.supervisor, WORKERS), signal.SIGKILL)


def freeze_database(node: Node) -> None:
    """Its database answers nothing, also where the supervisor has started it again."""
    with contextlib.suppress(OSError, ValueError):  # it is being started
        _signal(node.database(), signal.SIGSTOP)


def freeze_node(node: Node) -> None:
    """The whole node answers nothing."""
    _signal(node.everything(), signal.SIGSTOP)


FAULTS: Final[dict[str, Callable[[Node], None]]] = {
    "MudraTokensFail": freeze_database,
    "MudraNotServing": kill_workers,
    "MudraNodeDown": freeze_node,
}
"""What breaks each, done again every half second."""


class Paged(Struct, frozen=True):
    """An alert that fired."""

    alert: str
    seconds: float
    severity: str
    others: tuple[str, ...]
    """What else fired by then."""


def main() -> int:
    """Break what each alert is about, and print when it fired; 1 where one is late."""
    wanted = sys.argv[1:] or sized([*FAULTS, *LASTING], ["MudraNodeDown"])
    found = [_broken(name) for name in wanted if name in FAULTS]
    found += _lasting([name for name in LASTING if name in wanted])
    for one in found:
        others = f"; with it {', '.join(one.others)}" if one.others else ""
        print(f"{one.alert}: {one.severity} after {one.seconds:.0f} s{others}")
    late = sum(one.seconds > GOAL_S / FASTER for one in found)
    print(f"alerts broken for real: {len(found)}; later than {GOAL_S / FASTER:.0f} s: {late}")
    return exit_code(met=not late)


def _broken(name: str) -> Paged:
    with scratch() as folder:
        data_dir = data_directory(folder)
        with database_kept_up(data_dir):
            secrets = make_members(data_dir, 1)
            telemetry = free_port()
            with (
                RunningService(
                    data_dir,
                    *("--workers", str(WORKERS)),
                    MUDRA_TELEMETRY_PORT=str(telemetry),
                    MUDRA_ENTITY_TOKEN_RATE="1000+1000",
                ) as service,
                _prometheus(Path(folder), telemetry) as prometheus,
                _asked(service.port, *next(iter(secrets.items()))),
            ):
                node = Node(service.pid, data_dir)
                _wait(
                    lambda: _is_watched(prometheus) and not _firing(prometheus),
                    "Prometheus sees no node that is well",
                )
                say(f"{name}: the fault begins")
                return _until_paged(name, node, prometheus)


def _lasting(names: list[str]) -> list[Paged]:
    """Make one fault after the other in one service."""
    if not names:
        return []
    with scratch() as folder, contextlib.ExitStack() as held:
        home, telemetry = Path(folder), free_port()
        url = held.enter_context(own_postgres(home / "database"))
        disk = held.enter_context(small_disk(home / "watched"))
        variables = {
            "MUDRA_DATABASE_URL": url,
            "MUDRA_TELEMETRY_PORT": str(telemetry),
            "MUDRA_WATCHED_DISKS": str(disk),
            "MUDRA_SMTP_URL": f"smtp://127.0.0.1:{free_port()}",  # refuses
            "MUDRA_AUDIT_EXPORT": f"syslog+tls://127.0.0.1:{free_port()}",
        }
        service = held.enter_context(RunningService(home / "data", "--sandbox", **variables))
        settings = environment_of(variables, home / "data")
        broken = Broken(url, f"http://127.0.0.1:{service.port}", disk, settings)
        prometheus = held.enter_context(_prometheus(home, telemetry))
        held.enter_context(_asked(service.port, "NO-FIU", "x"))
        # The job that exports the audit fails from the begin: its receiver refuses.
        _wait(lambda: _is_watched(prometheus), "Prometheus sees no node")
        return [_made(name, broken, prometheus) for name in names]


def _made(name: str, broken: Broken, prometheus: str) -> Paged:
    say(f"{name}: the fault begins")
    with LASTING[name](broken):
        began, already = time.monotonic(), _firing(prometheus).keys()
        assert name not in already, f"{name} fires before its fault"
        _wait(lambda: name in _firing(prometheus), f"{name} does not fire")
        firing = _firing(prometheus)
        paged = Paged(
            name,
            time.monotonic() - began,
            firing[name],
            tuple(sorted(firing.keys() - already - {name})),
        )
    say(f"{name}: {paged.seconds:.0f} s")
    until_ready(broken.root)
    return paged


def _until_paged(name: str, node: Node, prometheus: str) -> Paged:
    began = time.monotonic()
    stopped: set[int] = set()
    try:
        while time.monotonic() - began < TOO_LONG_S:
            FAULTS[name](node)
            stopped.update(node.everything())
            with contextlib.suppress(OSError, ValueError):
                stopped.update(node.database())
            firing = _firing(prometheus)
            if name in firing:
                seconds = time.monotonic() - began
                others = tuple(sorted(firing.keys() - {name}))
                return Paged(name, seconds, firing[name], others)
            time.sleep(TICK_S)
    finally:
        _signal(sorted(stopped), signal.SIGCONT)
    raise TimeoutError(f"{name} did not fire within {TOO_LONG_S:.0f} s")


def _firing(prometheus: str) -> dict[str, str]:
    """The severity of each alert that fires."""
    answer = httpx2.get(f"{prometheus}/api/v1/alerts", timeout=10, verify=NO_TLS)
    answer.raise_for_status()
    return {
        one["labels"]["alertname"]: one["labels"]["severity"]
        for one in answer.json()["data"]["alerts"]
        if one["state"] == "firing"
    }


def _is_watched(prometheus: str) -> bool:
    """Return whether the node was scraped several times, with tokens asked for."""
    with contextlib.suppress(httpx2.HTTPError):  # Prometheus is starting
        answer = httpx2.get(
            f"{prometheus}/api/v1/query",
            params={
                "query": 'count_over_time(mudra_requests_total{path=~".*token/generate"}[10m])'
            },
            timeout=10,
            verify=NO_TLS,
        )
        answer.raise_for_status()
        counts = [int(one["value"][1]) for one in answer.json()["data"]["result"]]
        return max(counts, default=0) > 2
    return False


def _wait(condition: Callable[[], bool], problem: str) -> None:
    end = time.monotonic() + TOO_LONG_S
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(problem)
        time.sleep(TICK_S)


@contextlib.contextmanager
def _prometheus(folder: Path, telemetry: int) -> Iterator[str]:
    """Run Prometheus by the shipped rules; gives its address."""
    rules, config, port = folder / RULES.name, folder / "prometheus.yml", free_port()
    rules.write_text(_faster(RULES.read_text()))
    subprocess.run([program("promtool"), "check", "rules", rules], check=True, capture_output=True)
    every = f"{SCRAPE_S * 1000 / FASTER:.0f}ms"
    config.write_text(
        f"global: {{scrape_interval: {every}, scrape_timeout: {every}}}\n"
        f"rule_files: [{rules.name}]\n"
        "scrape_configs:\n  - job_name: mudra\n"
        f'    static_configs: [{{targets: ["127.0.0.1:{telemetry}"]}}]\n'
    )
    place = f"127.0.0.1:{port}"
    words: list[str | Path] = [
        Path(program("promtool")).with_name("prometheus"),
        f"--config.file={config}",
    ]
    words += [f"--storage.tsdb.path={folder / 'series'}", f"--web.listen-address={place}"]
    with (folder / "prometheus.log").open("w") as log:
        process = subprocess.Popen(words, stdout=log, stderr=log)
    try:
        yield f"http://{place}"
    finally:
        process.terminate()
        process.wait(30)


def _faster(rules: str) -> str:
    """Return the rules with each duration divided; names such as `rate5m` are no durations."""
    if FASTER == 1:
        return rules
    return _DURATION.sub(lambda at: f"{int(at[1]) * _MS[at[2]] / FASTER:.0f}ms", rules)


@contextlib.contextmanager
def _asked(port: int, entity_id: str, secret: str) -> Iterator[None]:
    """Ask for tokens until the end of the block, each for a few seconds at most."""
    over = threading.Event()

    def ask() -> None:
        form = {"id": entity_id, "secret": secret}
        with httpx2.Client(timeout=5, verify=NO_TLS) as client:
            while not over.wait(TICK_S / FASTER):
                with contextlib.suppress(httpx2.TransportError):
                    client.post(f"http://127.0.0.1:{port}{TOKENS}", data=form)

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    try:
        yield
    finally:
        over.set()
        asking.join(20)


def _signal(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


if __name__ == "__main__":
    sys.exit(main())
