"""The units of `deploy/systemd` under a real systemd: set up, started, killed, verified, stopped.

    python -m bench.systemd_units

Boots systemd as process 1 of a machine of its own: this one's files below an overlay in memory,
with mounts, processes, a network and control groups apart. There it does what
docs/operations/running.md says: a wheel in /opt/mudra, `mudra setup`, the units enabled, and
then everything that the sandboxing of a unit could break. Goals: every row met; exposures of
`systemd-analyze security` at most 2.0; nothing lost. Takes a minute of CPU, needs root and Debian's
packages systemd, dbus and curl, and leaves nothing behind.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Final

from tests.support.until import until

from bench.sizes import exit_code, sized
from bench.support import scratch
from bench.systemd_limits import full_of_tasks, hung
from bench.systemd_machine import SYSTEMD, Machine, Row, booted, groups

ROOT: Final = Path(__file__).resolve().parents[1]
_PYTHON: Final = "/usr/bin/python3"
_TIMERS: Final = ("mudra-audit-verify", "mudra-backup")
_UNITS: Final = ("mudra.service", *(f"{one}.service" for one in _TIMERS), "mudra-agent.service")
_MAX_EXPOSURE: Final = 2.0
_IN_MEMORY: Final = Path("/dev/shm")
"""Layers of an overlay of / must not be below /."""
_PROCESSES: Final = "/sys/fs/cgroup/system.slice/mudra.service/cgroup.procs"
_WRITES: Final = """
for place in /etc /usr /opt/mudra /var /var/backups/mudra; do
    touch $place/probe 2>/dev/null && echo $place
done
for home in home root; do ls -A "/$home" 2>/dev/null; done
touch /var/lib/mudra/probe && rm /var/lib/mudra/probe || echo not its own data
"""
_REQUESTS: Final = """
while ! [ -e /run/enough ]; do
    curl -s -m 60 -o /dev/null -w '%{http_code}\\n' http://127.0.0.1:8080/livez
done >/run/codes 2>&1
"""


def main() -> int:
    """Boot the machine, take the steps, print the table; 1 where a goal is missed."""
    lacking = _lacking()
    rows = [] if lacking else _taken()
    print("| step | result | met |")
    print("|---|---|---|")
    for one in rows:
        print(f"| {one.step} | {one.result} | {'yes' if one.met else 'NO'} |")
    missed = [one.step for one in rows if not one.met]
    print(f"units of systemd, goals missed: {lacking or ', '.join(missed) or 'none'}")
    return exit_code(met=not lacking and not missed)


def _lacking() -> str:
    if os.geteuid() != 0:
        return "not tried, needs root"
    needed = (SYSTEMD, _PYTHON, *map(shutil.which, ("systemd-run", "dbus-daemon", "curl")))
    if not all(one and Path(one).exists() for one in needed):
        return "not tried, needs systemd, dbus, curl and python3 of Debian"
    return "" if groups() else "not tried, no control groups of version 2 are mounted"


def _taken() -> list[Row]:
    with scratch(_IN_MEMORY) as folder:
        place = Path(folder)
        place.chmod(0o755)
        _install(place / "added")
        with booted(place) as machine:
            try:
                _set_up(machine)
                _timers(machine)
                _sandboxed(machine)
                _killed(machine)
                hung(machine)
                full_of_tasks(machine)
                _stopped(machine)
            except Exception as error:  # noqa: BLE001  # it is in the table, and the run fails
                machine.add("all steps", f"{error} {_log(machine)}", met=False)
            return machine.rows


def _log(machine: Machine) -> str:
    return machine.shell("journalctl --no-pager -n 40")


def _install(added: Path) -> None:
    """Install a wheel as an operator does, by `uv`, whose programs find themselves anywhere."""
    uv, dist = ROOT / ".venv/bin/uv", added.parent / "dist"
    target, listed = added / "opt/mudra", dist / "requirements.txt"
    of_target = ("--quiet", "--no-deps", "--python", target / "bin/python")
    for words in (
        ("build", "--quiet", "--wheel", "--out-dir", dist),
        ("export", "--quiet", "--frozen", "--no-dev", "--extra", "server", "--no-emit-project",
         "--output-file", listed),
        ("venv", "--quiet", "--relocatable", "--python", _PYTHON, target),
    ):  # fmt: skip
        subprocess.run([uv, *words], cwd=ROOT, check=True)
    for given in (["--requirements", listed], dist.glob("*.whl")):
        subprocess.run([uv, "pip", "install", *of_target, *given], check=True)
    (answers := added / "srv/answers.toml").parent.mkdir(parents=True)
    answers.write_text(
        'base_url = "https://tokens.network.example/iam"\noperator = "chief@network.example"\n'
    )
    answers.chmod(0o600)


def _set_up(machine: Machine) -> None:
    """Set up, start, and look whose processes serve."""
    began = time.monotonic()
    done = machine.run("/opt/mudra/bin/mudra", "setup", "--answers", "/srv/answers.toml")
    machine.add("mudra setup", f"{time.monotonic() - began:.1f} s", met="/activate/" in done)
    (units,) = re.findall(r"systemctl enable --now (.+)", done)
    machine.run("systemctl", "daemon-reload")
    machine.timed(
        "units enabled, /readyz is 200",
        lambda: machine.run("systemctl", "enable", "--now", *units.split()),
    )
    users = set(machine.shell(f"ps -o user= -p $(paste -sd, {_PROCESSES})").split())
    machine.add("its processes belong to", ", ".join(users), met=users == {"mudra"})


def _timers(machine: Machine) -> None:
    """Timers are due, and their units do what a timer would have them do."""
    due = machine.run("systemctl", "list-timers", "--no-pager")
    machine.add("timers due", " ".join(_TIMERS), met=all(f"{one}.timer" in due for one in _TIMERS))
    for one in _TIMERS:
        machine.run("systemctl", "start", one)
        result = machine.show(one, "Result")
        machine.add(f"{one} run once", result, met=result == "success")
    until(lambda: machine.figure("mudra_backup_age_seconds") is not None)
    failed = machine.figure("mudra_audit_verification_failed")
    verified = machine.figure("mudra_audit_verified_timestamp_seconds") or 0.0
    age = machine.figure("mudra_backup_age_seconds") or 0.0
    machine.add(
        "their metrics",
        f"verified {time.time() - verified:.0f} s ago, backup {age:.0f} s old",
        met=failed == 0 and time.time() - verified < age + 600,
    )


def _sandboxed(machine: Machine) -> None:
    """The sandbox keeps the service from what is not its own, and the units are without fault."""
    main = machine.show("mudra", "MainPID")
    reached = machine.run("nsenter", "-t", main, "-m", "sh", "-c", _WRITES, may_fail=True).split()
    machine.add("writes or reads outside its data", " ".join(reached) or "none", met=not reached)
    agent = (ROOT / "deploy/systemd/mudra-agent.service").read_text()
    machine.run("sh", "-c", 'printf %s "$0" >/etc/systemd/system/mudra-agent.service', agent)
    said = machine.run(
        "sh", "-c", "systemd-analyze verify /etc/systemd/system/mudra*",
        may_fail=True, with_errors=True,
    )  # fmt: skip
    machine.add("systemd-analyze verify", said.strip() or "no fault", met=not said.strip())
    for one in _UNITS:
        shown = machine.run("systemd-analyze", "security", "--no-pager", one)
        exposure = float(re.findall(r"exposure level for \S+: (\S+)", shown)[0])
        machine.add(f"exposure of {one}", exposure, met=exposure <= _MAX_EXPOSURE)


def _killed(machine: Machine) -> None:
    """A killed node is there again, with all that was acknowledged."""
    before = machine.operators()
    for whom in sized(("main", "all"), ("main",)):
        email = f"{whom}@network.example"
        machine.run("mudra", "operator", "create", email, "--scope", "health")
        before.add(email)
        machine.timed(f"kill -9 of {whom}, ready again", partial(_kill, machine, whom))
    lost = before - machine.operators()
    machine.add("lost by kills", " ".join(sorted(lost)) or "nothing", met=not lost)
    restarts = machine.show("mudra", "NRestarts")
    machine.add("restarts by systemd", restarts, met=int(restarts) == len(before) - 1)


def _kill(machine: Machine, whom: str) -> None:
    main = machine.show("mudra", "MainPID")
    machine.run("systemctl", "kill", "--signal=KILL", f"--kill-whom={whom}", "mudra")
    until(lambda: machine.show("mudra", "MainPID") not in {"0", main})


def _stopped(machine: Machine) -> None:
    """A restart refuses no connection; a stop ends all, and the next start has all."""
    before = machine.operators()
    machine.run("systemd-run", "--quiet", "--unit=asking", "sh", "-c", _REQUESTS)
    machine.timed("restart next to requests", lambda: machine.run("systemctl", "restart", "mudra"))
    machine.shell("touch /run/enough; while systemctl -q is-active asking; do sleep 0.1; done")
    codes = machine.shell("cat /run/codes").split()
    refused = len([one for one in codes if one != "200"])
    machine.add("refused meanwhile", f"{refused} of {len(codes)}", met=not refused and bool(codes))
    machine.run("systemctl", "stop", "mudra.socket", "mudra.service")
    left = machine.shell("ps -o args= -u mudra").strip()
    machine.add("processes left by a stop", left or "none", met=not left)
    for one in _TIMERS:
        machine.run("systemctl", "start", one)
        result = machine.show(one, "Result")
        machine.add(f"{one} while the node is stopped", result, met=result == "success")
    machine.timed(
        "start after a stop",
        lambda: machine.run("systemctl", "start", "mudra.socket", "mudra.service"),
    )
    lost = before - machine.operators()
    machine.add("lost by a stop", " ".join(sorted(lost)) or "nothing", met=not lost)


if __name__ == "__main__":
    sys.exit(main())
