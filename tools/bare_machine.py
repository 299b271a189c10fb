"""Prove the README's two commands on a machine that has nothing: `make test-bare [AS=user]`.

Makes a bare Debian 12, enters it with mounts and processes of its own, and runs there, in a clean
clone of a commit, `make run` to a verified token and `make test`. Leaves nothing behind. The
network is the host's, and so are its certificates and settings for package registries, as behind a
company's proxy.
"""

import argparse
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, NoReturn

from tools.handed_on import acquire_options, hand_on, handed_variables, sources_of

ROOT: Final = Path(__file__).resolve().parents[1]
_PACKAGES: Final = "ca-certificates,python3,python3-venv,make,git,curl,procps"
_USER: Final = "stranger"
_PORT: Final = 8080
_SECTION: Final = "## From clone to a verified token"
_READY_S: Final = 600
_PATH_OF_A_USER: Final = "/usr/local/bin:/usr/bin:/bin"
_PATH: Final = f"/usr/local/sbin:/usr/sbin:/sbin:{_PATH_OF_A_USER}"
_EXAMPLES: Final = """examples:
  make test-bare                 as root, the commit that is checked out (15 minutes)
  make test-bare AS=user         as an ordinary user, who cannot install system packages
  tools.bare_machine --keep      keep the machine's directory for a look
  tools.bare_machine --enter DIRECTORY -- bash    look at one that was kept"""
_APART: Final = ("unshare", "--mount", "--pid", "--ipc", "--uts", "--fork", "--kill-child")
"""Its mounts end with its processes, and all of these with the first."""
_ENTER: Final = """
set -eu
root=$1; shift
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for one in null zero full random urandom tty fuse; do
    [ -c "/dev/$one" ] || continue
    touch "$root/dev/$one"
    mount --bind "/dev/$one" "$root/dev/$one"
done
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts "$root/dev/pts"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
for one in 0:stdin 1:stdout 2:stderr; do ln -s "/proc/self/fd/${one%:*}" "$root/dev/${one#*:}"; done
cd "$root"
# Not chroot alone: below one the kernel gives no user namespace.
pivot_root . mnt
# A bare machine has no umount.
leave='import ctypes; ctypes.CDLL(None).umount2(b"/mnt", 2)'
exec chroot . /bin/sh -c 'python3 -c "$0"; "$@"; exit $?' "$leave" "$@"
"""
"""The last shell is process 1 of the machine, and takes up what others leave."""
_RUN: Final = """
set -meu
began=$(date +%s)
make run >/tmp/make-run.txt 2>&1 &
run=$!
until curl --silent --fail --output /dev/null http://127.0.0.1:8080/readyz; do
    if ! kill -0 "$run" || [ $(($(date +%s) - began)) -gt "$1" ]; then
        cat /tmp/make-run.txt
        exit 1
    fi
    sleep 0.2
done
eval "$2"
echo "seconds to a verified token: $(($(date +%s) - began))"
kill -INT -- "-$run"
wait "$run" || true
"""


@dataclass
class Machine:
    """A bare Debian 12 in a directory of this one."""

    directory: Path
    user: Literal["root", "user"]
    took_s: dict[str, float] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Returns the name of the user who runs the commands."""
        return "root" if self.user == "root" else _USER

    @property
    def home(self) -> Path:
        """Returns the home directory, as the machine sees it."""
        return Path("/root") if self.user == "root" else Path("/home") / _USER

    def make(self) -> None:
        """Install Debian, and hand on what this machine knows of registries."""
        options = self.directory.with_name("apt.conf")
        options.write_text(acquire_options())
        words = [
            *_APART,
            "--mount-proc",
            "mmdebstrap",
            "--quiet",
            "--variant=apt",
            f"--include={_PACKAGES}",
        ]
        words += [f"--aptopt={options}", "bookworm", str(self.directory), *sources_of("bookworm")]
        subprocess.run(words, check=True)
        if self.user != "root":
            words = ["useradd", "--create-home", "--shell", "/bin/bash", _USER]
            subprocess.run(["chroot", self.directory, *words], check=True)
        hand_on(self.directory, self.home)

    def clone(self, commit: str) -> None:
        """Clone this checkout, as it was committed."""
        place = self._outside / "mudra"
        subprocess.run(["git", "clone", "--quiet", "--no-local", ROOT, place], check=True)
        subprocess.run(["git", "-C", place, "checkout", "--quiet", commit], check=True)
        if self.user != "root":
            owner = self._outside.stat()
            ids = f"{owner.st_uid}:{owner.st_gid}"
            subprocess.run(["chown", "--recursive", ids, self._outside], check=True)

    def run(self, *words: str) -> tuple[int, list[str]]:
        """Run a command in the clone and show what it prints; gives its exit code, and that."""
        # Not as arguments, which everybody on this machine may see.
        variables = {"HOME": str(self.home), "USER": self.name, "LOGNAME": self.name}
        variables |= {"SHELL": "/bin/bash", "PATH": _PATH, "TERM": "dumb", **handed_variables()}
        inside = ["env", f"--chdir={self.home}/mudra"]
        if self.user != "root":
            inside = ["runuser", "-u", _USER, "--", *inside, f"PATH={_PATH_OF_A_USER}"]
        entered = [*_APART, "sh", "-c", _ENTER, "sh", str(self.directory), *inside]
        lines = []
        with subprocess.Popen(
            [*entered, *words], env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors="replace",
        ) as process:  # fmt: skip
            try:
                for line in process.stdout or ():
                    print(line, end="", flush=True)
                    lines.append(line.rstrip())
            except BaseException:
                process.kill()
                raise
        return process.returncode, lines

    def packages(self) -> set[str]:
        """Names of all that Debian has installed there."""
        admin = f"--admindir={self.directory}/var/lib/dpkg"
        shown = ["dpkg-query", admin, "-W", "--showformat=${Package}\n"]
        done = subprocess.run(shown, capture_output=True, text=True, check=True)
        return set(done.stdout.split())

    def remove(self) -> None:
        """Remove it, and nothing that is mounted there."""
        for mounted in reversed(Path("/proc/self/mounts").read_text().splitlines()):
            if Path(mounted.split()[1]).is_relative_to(self.directory):
                subprocess.run(["umount", "--lazy", mounted.split()[1]], check=True)
        parent = self.directory.parent
        for _ in range(20):  # killed processes may still be ending
            subprocess.run(["rm", "-rf", "--one-file-system", parent], check=False)
            if not parent.exists():
                return
            time.sleep(0.5)
        raise SystemExit(f"{parent} could not be removed: remove it")

    @property
    def _outside(self) -> Path:
        return self.directory / self.home.relative_to("/")


def main() -> int:
    """Make the machine, run both commands, remove it."""
    asked = _arguments()
    if asked.enter:
        machine = Machine(Path(asked.enter).resolve(), asked.user)
        return machine.run(*(asked.command or ["bash"]))[0]
    _ask_for_what_is_needed()
    commit = _git("rev-parse", asked.commit)
    if _git("status", "--porcelain"):
        print("note: changes that are not committed are not proven")
    machine = Machine(Path(tempfile.mkdtemp(prefix="mudra-bare-")) / "debian", asked.user)
    machine.directory.parent.chmod(0o755)
    for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(one, _end)
    try:
        return _proven(machine, commit)
    except KeyboardInterrupt:
        return 130
    finally:
        for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(one, signal.SIG_IGN)
        if asked.keep:
            print(f"kept: {machine.directory}")
        else:
            machine.remove()


def _proven(machine: Machine, commit: str) -> int:
    began = time.monotonic()
    machine.make()
    bare = machine.packages()
    machine.clone(commit)
    made_s = time.monotonic() - began
    said, failed, took = _both(machine)
    installed = sorted(machine.packages() - bare)
    print(f"\nOn a bare Debian 12 as {machine.name}, commit {commit[:12]}:")
    print(f"  the machine  {made_s / 60:.1f} min, {len(bare)} packages")
    for name, seconds in took.items():
        print(f"  {name:<12} {seconds / 60:.1f} min")
    for line in said:
        print(f"  {line}")
    print(f"  installed    {len(installed)} packages: {' '.join(installed) or 'none'}")
    print(f"red: {failed}" if failed else "green: both commands work the first time")
    return 1 if failed else 0


def _both(machine: Machine) -> tuple[list[str], str, dict[str, float]]:
    commands, expected = readme_commands((ROOT / "README.md").read_text())
    said: list[str] = []
    took: dict[str, float] = {}
    steps = {
        "make run": ("bash", "-c", _RUN, "bash", str(_READY_S), commands),
        "make test": ("make", "test"),
    }
    for name, words in steps.items():
        began = time.monotonic()
        code, lines = machine.run(*words)
        took[name] = time.monotonic() - began
        said += [one for one in lines if re.match(r"=+ .*\d+ passed.* =+$|seconds to a", one)]
        if code:
            return said, f"{name} ended with {code}", took
        if name == "make run" and (missing := expected - set(lines)):
            return said, f"the README promises {min(missing)!r}", took
    return said, "", took


def readme_commands(text: str) -> tuple[str, set[str]]:
    """Returns what the README has a reader type after `make run`, and lines that it then shows."""
    section = text.partition(_SECTION)[2].partition("\n## ")[0]
    blocks = re.findall(r"^```(sh|text)\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    first, *typed = [body for kind, body in blocks if kind == "sh"]
    if first != "make run\n" or not typed:
        raise SystemExit("README.md must begin with `make run`, and then show what to type")
    shown = {line for kind, body in blocks if kind == "text" for line in body.splitlines()}
    return "\n".join(typed), shown


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="tools.bare_machine", description=(__doc__ or "").partition("\n")[0],
        epilog=_EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--as", dest="user", choices=("root", "user"), default="root")
    parser.add_argument("--commit", default="HEAD", help="what is cloned (HEAD)")
    parser.add_argument("--keep", action="store_true", help="leave the machine's directory")
    parser.add_argument("--enter", metavar="DIRECTORY", help="run a command in one that was kept")
    parser.add_argument("command", nargs="*", help="for --enter")
    return parser.parse_args()


def _ask_for_what_is_needed() -> None:
    if os.geteuid() != 0:
        raise SystemExit("only root makes a machine: run `sudo make test-bare`")
    for program, package in (("mmdebstrap", "mmdebstrap"), ("unshare", "util-linux")):
        if shutil.which(program) is None:
            raise SystemExit(f"{program} is not here: run `apt-get install {package}`")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", _PORT))
        except OSError:
            raise SystemExit(
                f"port {_PORT} must be free, on which `make run` answers: stop what listens there"
            ) from None


def _git(*words: str) -> str:
    done = subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"git {shlex.join(words)}: {done.stderr.strip()}")
    return done.stdout.strip()


def _end(*_: object) -> NoReturn:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
