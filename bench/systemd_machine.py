"""A machine whose process 1 is systemd: this one's files, with processes and a network apart."""

import contextlib
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct, field
from tests.support.until import until

from bench.support import say

SYSTEMD: Final = "/lib/systemd/systemd"
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
    + SYSTEMD
)
READY: Final = "curl -s -m 5 -o /dev/null -w '%{http_code}' http://127.0.0.1:8080/readyz || true"
_FIGURES: Final = "curl -s -m 5 http://127.0.0.1:9464/metrics || true"


class Row(Struct):
    """A step, and what it came to."""

    step: str
    result: str
    met: bool


class Machine(Struct):
    """A machine whose process 1 is systemd."""

    pid: int
    group: Path
    """Its control group, as this machine has it."""
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
        until(lambda: self.shell(READY) == "200")
        self.add(step, f"{time.monotonic() - began:.1f} s", met=True)

    def operators(self) -> set[str]:
        """Return who is an operator."""
        return set(
            re.findall(r'"email": "([^"]+)"', self.run("mudra", "operator", "list", "--json"))
        )


def groups() -> Path | None:
    """Return where the control groups of version 2 are."""
    mounted = [one.split() for one in Path("/proc/self/mounts").read_text().splitlines()]
    return next((Path(one[1]) for one in mounted if one[2] == "cgroup2"), None)


@contextlib.contextmanager
def booted(place: Path) -> Iterator[Machine]:
    mounted = groups()
    assert mounted is not None
    group = mounted / f"mudra-{place.name}"
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
        machine = Machine(int(children.read_text() or 0), group)
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
