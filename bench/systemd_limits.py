"""Steps of `bench/systemd_units.py`: a supervisor that hangs, and a unit that is full of tasks."""

import contextlib
import time
from pathlib import Path
from typing import Final

from tests.support.until import until

from bench.systemd_machine import READY, Machine

_WATCHDOG_S: Final = 60.0
"""`WatchdogSec` of the unit."""
_AFTER_S: Final = 15.0
"""For systemd to end what hangs, `RestartSec`, and the start of the process on a busy machine."""
_PIDS: Final = Path("/sys/fs/cgroup/pids")
_CROWD_S: Final = 20.0
_HERE: Final = Path(__file__).with_name("in_the_machine")
_HANG: Final = _HERE / "hang.py"
_CROWD: Final = _HERE / "crowd.py"
_MOST: Final = 0.5
"""Of `TasksMax`, next to a crowd: the rest is for more workers and for commands."""


def hung(machine: Machine) -> None:
    """Stop the supervisor: its children let it go on. Hang it: systemd ends and starts it."""
    before = machine.operators() | {"hung@network.example"}
    machine.run("mudra", "operator", "create", "hung@network.example", "--scope", "health")
    main, restarts = machine.show("mudra", "MainPID"), int(machine.show("mudra", "NRestarts"))
    _stop_by_signal(machine, main)
    began = time.monotonic()
    machine.run("sh", "-c", 'printf %s "$0" >/run/hang.py', _HANG.read_text())
    machine.run("systemd-run", "--quiet", "--unit=hang", "/usr/bin/python3", "/run/hang.py", main)
    answers = []
    while machine.show("mudra", "MainPID") in {"0", main}:
        answers.append(machine.shell(READY))
        assert time.monotonic() < began + 2 * (_WATCHDOG_S + _AFTER_S), "systemd did not notice"
        time.sleep(1)
    noticed_s = time.monotonic() - began
    until(lambda: machine.shell(READY) == "200")
    ready_s = time.monotonic() - began
    machine.add(
        "a hung supervisor is replaced, ready again",
        f"{noticed_s:.1f} s, {ready_s:.1f} s",
        met=noticed_s <= _WATCHDOG_S + _AFTER_S,
    )
    served = answers.count("200")
    machine.add("/readyz meanwhile", f"200 in {served} of {len(answers)}", met=True)
    lost = before - machine.operators()
    machine.add("lost by the hang", " ".join(sorted(lost)) or "nothing", met=not lost)
    more = int(machine.show("mudra", "NRestarts")) - restarts
    machine.add("restarts by systemd for it", more, met=more == 1)


def _stop_by_signal(machine: Machine, main: str) -> None:
    began = time.monotonic()
    machine.run("kill", "-STOP", main)
    until(lambda: ") T " not in machine.shell(f"cat /proc/{main}/stat"))
    going_on = machine.show("mudra", "MainPID") == main
    took = f"{time.monotonic() - began:.1f} s"
    machine.add("a supervisor stopped by SIGSTOP goes on after", took, met=going_on)


def full_of_tasks(machine: Machine) -> None:
    """Count tasks next to 200 busy connections; then allow no more, and kill a worker."""
    most = int(machine.show("mudra", "TasksMax"))
    rest = len(_tasks(machine))
    machine.run("sh", "-c", 'printf %s "$0" >/run/crowd.py', _CROWD.read_text())
    crowd = ("--quiet", "--unit=crowd", "/usr/bin/python3", "/run/crowd.py", str(_CROWD_S))
    machine.run("systemd-run", *crowd)
    counts, ends = [rest], time.monotonic() + _CROWD_S
    while time.monotonic() < ends:
        counts.append(len(_tasks(machine)))
        time.sleep(0.2)
    until(lambda: machine.shell("systemctl is-active crowd").strip() != "active")
    machine.add(
        "tasks at rest, next to 200 busy connections",
        f"{rest}, {max(counts)} of {most}",
        met=max(counts) <= _MOST * most,
    )
    machine.add("the crowd's answers", machine.shell("cat /run/crowd.txt").strip(), met=True)
    if _PIDS.is_dir():
        _without_room(machine)


def _tasks(machine: Machine) -> list[str]:
    return (machine.group / "system.slice/mudra.service/cgroup.threads").read_text().split()


def _without_room(machine: Machine) -> None:
    """A unit that may have no more tasks goes on with those it has, and recovers with room.

    What `TasksMax` sets is set by hand: the machine's systemd has no controller of tasks, where
    that of this one is of version 1.
    """
    before, main = machine.operators(), machine.show("mudra", "MainPID")
    limited = _PIDS / machine.group.name
    limited.mkdir()
    for pid in (machine.group / "system.slice/mudra.service/cgroup.procs").read_text().split():
        (limited / "cgroup.procs").write_text(pid)
    (limited / "pids.max").write_text((limited / "pids.current").read_text())
    machine.shell("pkill -KILL -o -f 'mudra serve: worker-'")
    (limited / "pids.max").write_text(str(len(_tasks(machine))))
    answers = []
    for _ in range(20):
        answers.append(machine.shell(READY))
        time.sleep(0.5)
    went_on = machine.show("mudra", "MainPID") == main
    machine.add(
        "no task more allowed, a worker killed: /readyz",
        f"200 in {answers.count('200')} of {len(answers)}; the supervisor "
        + ("goes on" if went_on else "was replaced"),
        met=True,
    )
    machine.timed("room again, ready", lambda: (limited / "pids.max").write_text("max"))
    lost = before - machine.operators()
    machine.add("lost without room", " ".join(sorted(lost)) or "nothing", met=not lost)
    until(lambda: _removed(limited))


def _removed(limited: Path) -> bool:
    with contextlib.suppress(OSError):  # a process has ended, or is about to
        for pid in (limited / "cgroup.procs").read_text().split():
            (_PIDS / "cgroup.procs").write_text(pid)
        limited.rmdir()
    return not limited.exists()
