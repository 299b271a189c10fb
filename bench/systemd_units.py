"""The units of `deploy/systemd` under a real systemd: set up, started, killed, verified, stopped.

    python -m bench.systemd_units

Boots systemd as process 1 of a machine of its own: this one's files below an overlay in memory,
with mounts, processes, a network and control groups apart. There it does what
docs/operations/running.md says: a wheel in /opt/mudra, `mudra setup`, the units enabled, and
then everything that the sandboxing of a unit could break. Goals: every row met; exposures of
`systemd-analyze security` at most 2.0; nothing lost. Takes a minute of CPU, needs root and Debian's
packages systemd, dbus and curl, and leaves nothing behind.
"""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

from msgspec import Struct, field
from tests.support.until import until

from bench.sizes import exit_code, sized
from bench.support import say, scratch

ROOT: Final = Path(__file__).resolve().parents[1]
_SYSTEMD: Final = "/lib/systemd/systemd"
_PYTHON: Final = "/usr/bin/python3"
_TIMERS: Final = ("mudra-audit-verify", "mudra-backup")
_UNITS: Final = ("mudra.service", *(f"{one}.service" for one in _TIMERS), "mudra-agent.service")
_MAX_EXPOSURE: Final = 2.0
_IN_MEMORY: Final = Path("/dev/shm")
"""Layers of an overlay of / must not be below /."""
_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_BOOT: Final = (
    """
set -eu
place=$1 machine=$1/machine
mount --make-rprivate /
mkdir "$place/upper" "$place/work" "$machine"
mount -t overlay overlay "$machine" \
    -o "lowerdir=$place/added:/,upperdir=$place/upper,workdir=$place/work"
cd "$machine"
rm -rf etc/systemd/system etc/fstab etc/crypttab etc/mudra var/lib/mudra var/backups/mudra
mkdir etc/systemd/system
mount -t proc proc proc
mount --bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys
mount -t sysfs -o ro sysfs sys
mount -t tmpfs tmpfs sys/fs/cgroup
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs dev
for one in null zero full random urandom tty; do
    touch "dev/$one"
    mount --bind "/dev/$one" "dev/$one"
done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts dev/pts
mount -t tmpfs -o mode=1777 tmpfs dev/shm
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=1777 tmpfs tmp
pivot_root . mnt
exec chroot . /bin/sh -c 'umount -l /mnt; exec "$0"' """
    + _SYSTEMD
)
_READY: Final = "curl -s -m 5 -o /dev/null -w '%{http_code}' http://127.0.0.1:8080/readyz || true"
_FIGURES: Final = "curl -s -m 5 http://127.0.0.1:9464/metrics || true"
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


class Row(Struct):
    """A step, and what it came to."""

    step: str
    result: str
    met: bool


class Machine(Struct):
    """A machine whose process 1 is systemd."""

    pid: int
    rows: list[Row] = field(default_factory=list)

    def run(self, *words: str, **how: bool) -> str:
        """Run a command there; returns what it printed, and says when it failed."""
        namespaces = ("-m", "-p", "-i", "-u", "-n", "-C", "-r", "-w")
        done = subprocess.run(
            ["nsenter", "-t", str(self.pid), *namespaces, "--", *words],
            env={"PATH": _PATH, "HOME": "/root", "TERM": "dumb"},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode and not how.get("may_fail"):
            raise RuntimeError(f"{' '.join(words)}: {done.stdout}{done.stderr}")
        return done.stdout + (done.stderr if how.get("with_errors") else "")

    def shell(self, text: str) -> str:
        """Run lines of a shell there."""
        return self.run("sh", "-c", text, may_fail=True)

    def show(self, unit: str, name: str) -> str:
        """Return a property of a unit."""
        return self.run("systemctl", "show", "-P", name, unit).strip()

    def figure(self, name: str) -> float | None:
        """Return a metric of the node."""
        found = re.search(rf"^{name}(?:{{.*}})? (\S+)$", self.shell(_FIGURES), re.MULTILINE)
        return float(found[1]) if found else None

    def add(self, step: str, result: object, *, met: bool) -> None:
        """Keep a row, and show it."""
        self.rows.append(Row(step, str(result), met))
        say(f"{step}: {result}{'' if met else '  NOT MET'}")

    def timed(self, step: str, act: Callable[[], object]) -> None:
        """Do it until the node is ready, and keep the seconds."""
        began = time.monotonic()
        act()
        until(lambda: self.shell(_READY) == "200")
        self.add(step, f"{time.monotonic() - began:.1f} s", met=True)

    def operators(self) -> set[str]:
        """Return who is an operator."""
        return set(
            re.findall(r'"email": "([^"]+)"', self.run("mudra", "operator", "list", "--json"))
        )


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
    needed = (_SYSTEMD, _PYTHON, *map(shutil.which, ("systemd-run", "dbus-daemon", "curl")))
    if not all(one and Path(one).exists() for one in needed):
        return "not tried, needs systemd, dbus, curl and python3 of Debian"
    return "" if _groups() else "not tried, no control groups of version 2 are mounted"


def _groups() -> Path | None:
    """Return where the control groups of version 2 are."""
    mounted = [one.split() for one in Path("/proc/self/mounts").read_text().splitlines()]
    return next((Path(one[1]) for one in mounted if one[2] == "cgroup2"), None)


def _taken() -> list[Row]:
    with scratch(_IN_MEMORY) as folder:
        place = Path(folder)
        place.chmod(0o755)
        _install(place / "added")
        with _booted(place) as machine:
            try:
                _set_up(machine)
                _timers(machine)
                _sandboxed(machine)
                _killed(machine)
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


@contextlib.contextmanager
def _booted(place: Path) -> Iterator[Machine]:
    groups = _groups()
    assert groups is not None
    group = groups / f"mudra-{place.name}"
    group.mkdir()
    apart = ("--mount", "--pid", "--ipc", "--uts", "--net", "--cgroup", "--fork", "--kill-child")
    enter = f'echo $$ >{group}/cgroup.procs; exec unshare {" ".join(apart)} sh -c "$0" sh "$1"'
    began = time.monotonic()
    with (place / "console").open("w") as console:
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "sh", "-c", enter, _BOOT, str(place)],
            start_new_session=True,
            env={"PATH": _PATH, "container": "mudra"}, stdout=console, stderr=console,
        )  # fmt: skip
    try:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        until(lambda: children.read_text() or process.poll() is not None)
        machine = Machine(int(children.read_text() or 0))
        until(lambda: "running" in _state(machine) or process.poll() is not None)
        if process.poll() is not None:
            raise SystemExit(f"the machine did not boot: {(place / 'console').read_text()}")
        machine.add("systemd runs", f"{time.monotonic() - began:.1f} s", met=True)
        yield machine
        machine.run("systemctl", "poweroff", may_fail=True)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(60)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        until(lambda: _removed(group))


def _state(machine: Machine) -> str:
    return machine.run("systemctl", "is-system-running", may_fail=True)


def _removed(group: Path) -> bool:
    """Remove the groups, the inner ones first; false while processes are in them."""
    with contextlib.suppress(OSError):
        for one in sorted(group.rglob("*/"), reverse=True):
            one.rmdir()
        group.rmdir()
    return not group.exists()


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
