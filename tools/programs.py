"""Find or install what tests need besides Python's packages: `make programs`, `make test`.

One list, of two kinds: Debian's packages, and packages of other registries by their lock files. It
is gone through before the first test. Tests only look up: `find`, and `reason` where there is none.
"""

import argparse
import contextlib
import ctypes
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

ROOT: Final = Path(__file__).resolve().parents[1]
_PATH: Final = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
"""The superuser's directories are not in everyone's path."""
_UV: Final = str(ROOT / ".venv/bin/uv")
_AT_MOST_S: Final = 600
"""For Debian's packages together, and for each lock file: no registry holds up tests for ever."""
_EXAMPLES: Final = """examples:
  make programs                                what `make test` needs
  make programs INSTALL=0                      the same, without Debian's packages
  .venv/bin/python -m tools.programs --slow    what `make test-slow` needs
  .venv/bin/python -m tools.programs chromium  this one alone"""


@dataclass(frozen=True)
class Program:
    """Something of Debian's."""

    name: str
    tests: str
    """Which are skipped without it."""
    files: tuple[str, ...]
    """Any of them is enough: names of programs, of shared libraries (`.so`), or absolute paths."""
    packages: tuple[str, ...]
    """The first that Debian has."""
    slow: bool = False
    """Whether `make test-slow` alone needs it."""

    def find(self) -> str | None:
        """Returns where it is."""
        return next((found for file in self.files if (found := _found(file))), None)

    @property
    def way(self) -> str:
        """Returns the way to install it."""
        return f"`make programs` as root installs Debian's {' or '.join(self.packages)}"


@dataclass(frozen=True)
class Locked:
    """Packages of another registry, exactly as a lock file of this checkout names them."""

    name: str
    tests: str
    lock: str
    kind: Literal["npm", "environment", "files", "group"]
    """For npm next to the lock file; for pip an environment, or only its files; or uv's group."""
    home: str
    file: str
    """What tests ask for, below `home`."""
    slow: bool = False
    apart: bool = False
    """Whether packages that this project excludes belong to it."""

    def find(self) -> str | None:
        """Returns where it is, if it was made by the lock file as it is now, in this place."""
        with contextlib.suppress(OSError):
            if self._stamp.read_text() == self._wanted():
                return str(ROOT / self.home / self.file)
        return None

    @property
    def way(self) -> str:
        """Returns the way to install it."""
        return f"`make programs` installs it by {self.lock} where that registry can be reached"

    def install(self) -> None:
        """Make it again from nothing. Whatever goes wrong, `find` does not find it then."""
        self._stamp.unlink(missing_ok=True)
        for words in self._commands():
            # Elsewhere uv does not read this project's settings.
            place = Path(tempfile.gettempdir()) if self.apart else (ROOT / self.lock).parent
            if not _ran(words, cwd=place, env=self._environment()):
                return
        self._stamp.write_text(self._wanted())

    @property
    def _stamp(self) -> Path:
        return ROOT / self.home / ".made-by"

    def _wanted(self) -> str:
        made = hashlib.sha256((ROOT / self.lock).read_bytes())
        # An environment knows its own path, and the Python that made it.
        made.update(f"{ROOT / self.home} {sys.version} {self.kind}".encode())
        return made.hexdigest()

    def _commands(self) -> list[list[str]]:
        home, lock = str(ROOT / self.home), str(ROOT / self.lock)
        pip = [_UV, "pip", "install", "--quiet", "--require-hashes", "-r", lock]
        match self.kind:
            case "npm":
                return [["npm", "ci", "--silent", "--ignore-scripts", "--no-audit", "--no-fund"]]
            case "environment":
                make = [_UV, "venv", "--quiet", "--clear", "--python", sys.executable, home]
                return [make, [*pip, "--python", f"{home}/bin/python"]]
            case "files":
                shutil.rmtree(home, ignore_errors=True)
                return [[*pip, "--python", sys.executable, "--target", home]]
            case "group":
                group = f"--only-group={self.name}"
                return [[_UV, "sync", "--quiet", "--frozen", group, "--no-install-project"]]

    def _environment(self) -> dict[str, str]:
        path = f"{ROOT / '.venv/bin'}:{os.environ.get('PATH', os.defpath)}"
        return {**os.environ, "PATH": path, "UV_PROJECT_ENVIRONMENT": str(ROOT / self.home)}


Need = Program | Locked

LIST: Final[tuple[Need, ...]] = (
    # The shell draws no window: a third less CPU than the whole browser, and less to install.
    Program(
        "chromium", "the browser tests",
        ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"),
        ("chromium-headless-shell", "chromium"),
    ),
    Program("libatomic", "the browser tests", ("libatomic.so.1",), ("libatomic1",)),
    Program("java", "the tests of the Java program", ("javac",), ("default-jdk-headless",)),
    Program("curl", "the tests of the program of curl", ("curl",), ("curl",)),
    Program("nginx", "the tests behind nginx", ("nginx",), ("nginx-light",)),
    Program("caddy", "the tests of the example for Caddy", ("caddy",), ("caddy",)),
    Program("haproxy", "the tests of the example for HAProxy", ("haproxy",), ("haproxy",)),
    Program("logrotate", "the tests of logs that it rotates", ("logrotate",), ("logrotate",)),
    Program("systemd-analyze", "the tests of the units", ("systemd-analyze",), ("systemd",)),
    Program("mount", "the tests of a full disk", ("mount",), ("mount",)),
    Program("mkfs.ext4", "the tests of a full disk of ext4", ("mkfs.ext4",), ("e2fsprogs",)),
    # Named by its way to speak TLS, which is a package of its own and needs the program.
    Program(
        "rsyslogd", "the tests of the audit's export",
        ("/usr/share/doc/rsyslog-gnutls/copyright",), ("rsyslog-gnutls",),
    ),
    Program("promtool", "the tests of the alert rules", ("promtool",), ("prometheus",)),
    Locked(
        "axe-core", "the browser tests", "tests/browser/node/package-lock.json", "npm",
        "tests/browser/node/node_modules", "axe-core/axe.min.js",
    ),
    Locked(
        "node-packages", "the tests of clients in Node.js and of the dashboards",
        "tests/conformance/node/package-lock.json", "npm",
        "tests/conformance/node/node_modules", "",
    ),
    Locked(
        "frameworks", "the tests of middleware in frameworks",
        "tests/conformance/frameworks/requirements.txt", "environment",
        ".build/frameworks-env", "bin/python",
    ),
    Locked(
        "openapi-clients", "the tests of the OpenAPI document by tools of Python",
        "tests/conformance/openapi/requirements.txt", "environment",
        ".build/openapi-clients-env", "bin/python", apart=True,
    ),
    Locked(
        "envoy", "the tests of the lines that Envoy writes",
        "tests/conformance/envoy/requirements.txt", "files", ".build/envoy", "envoy/_bin/envoy",
    ),
    Program("go", "the tests of the sample in Go", ("go",), ("golang-go",), slow=True),
    Program(
        "validator", "the tests of the generated client in Go",
        ("/usr/share/gocode/src/gopkg.in/validator.v2/validator.go",),
        ("golang-gopkg-validator.v2-dev",), slow=True,
    ),
    Program("ip", "the tests of lost packets", ("ip",), ("iproute2",), slow=True),
    Program("etcd", "the tests on Patroni", ("etcd",), ("etcd-server",), slow=True),
    Program(
        "pgbackrest", "the tests of a recovery to a time", ("pgbackrest",), ("pgbackrest",),
        slow=True,
    ),
    Program("pgbouncer", "the tests behind PgBouncer", ("pgbouncer",), ("pgbouncer",), slow=True),
    Program(
        "postgresql-15", "the tests on Debian's PostgreSQL",
        ("/usr/lib/postgresql/15/bin/postgres",), ("postgresql-15",), slow=True,
    ),
    Program(
        "httpmime", "the tests of the generated Java client",
        ("/usr/share/java/httpmime.jar",), ("libhttpmime-java",), slow=True,
    ),
    Locked(
        "openapi-generator", "the tests of the clients that it generates",
        "tests/conformance/generator/requirements.txt", "files", ".build/openapi-generator",
        "openapi_generator_cli/openapi-generator.jar", slow=True,
    ),
    Locked(
        "opentelemetry-java", "the tests of OpenTelemetry's SDK of Java",
        "tests/conformance/java/opentelemetry/requirements.txt", "files",
        ".build/opentelemetry-java",
        "pyflink/plugins/metrics-otel/flink-metrics-otel-2.3.0.jar", slow=True,
    ),
    Locked(
        "spectral", "the tests of the OpenAPI document by Spectral",
        "tests/conformance/spectral/package-lock.json", "npm",
        "tests/conformance/spectral/node_modules", "@stoplight/spectral-cli/dist/index.js",
        slow=True,
    ),
    # Debian 12's Patroni 3.0.2 loses writes: deploy/patroni/requirements.txt.
    Locked(
        "patroni", "the tests on Patroni", "deploy/patroni/requirements.txt", "environment",
        ".build/patroni-env", "bin/patroni", slow=True,
    ),
    Locked(
        "charts", "the tests of the charts", "uv.lock", "group",
        ".build/charts-env", "bin/python", slow=True,
    ),
    Locked(
        "postgres-versions", "the tests on other versions of PostgreSQL",
        "tests/storage/postgres/package-lock.json", "npm",
        "tests/storage/postgres/node_modules", "", slow=True,
    ),
)  # fmt: skip
_BY_NAME: Final = {one.name: one for one in LIST}


def find(name: str) -> str | None:
    """Returns where a program of the list, or a file of packages, is on this machine."""
    return _BY_NAME[name].find()


def reason(name: str) -> str:
    """Returns why tests without it are skipped, and the way out."""
    one = _BY_NAME[name]
    return f"{one.name} is not here, so {one.tests} are skipped; {one.way}"


def main() -> int:
    """Go through the list once."""
    asked = _arguments()
    wanted = [
        one for one in LIST if (one.name in asked.names if asked.names else asked.slow >= one.slow)
    ]
    missing = [one for one in wanted if one.find() is None]
    if asked.brief and not missing:
        return 0
    here = [one.name for one in wanted if one not in missing]
    print(f"Tests need {len(wanted)} programs and packages. Here: {', '.join(here) or 'none'}.")
    debian = (
        [] if asked.no_system_packages else [one for one in missing if isinstance(one, Program)]
    )
    if debian and (refusal := _no_debian()):
        print(f"Debian's packages are not installed: {refusal}.")
        debian = []
    locked = [one for one in missing if isinstance(one, Locked)]
    if debian or locked:
        _install(debian, locked)
    for one in missing:
        if one.find() is None:
            print(f"Not to be had: {one.name}: {one.tests} are skipped. {one.way}.")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Find or install what tests need besides Python's packages.",
        epilog=_EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(_BY_NAME)}")
    parser.add_argument("--slow", action="store_true", help="with what `make test-slow` needs")
    parser.add_argument("--brief", action="store_true", help="say nothing where all is there")
    parser.add_argument(
        "--no-system-packages", action="store_true", help="install nothing of Debian's"
    )
    asked = parser.parse_args()
    if unknown := sorted(set(asked.names) - set(_BY_NAME)):
        parser.error(f"NAME must be of {', '.join(_BY_NAME)}, not {unknown[0]}")
    return asked


def _no_debian() -> str:
    if shutil.which("apt-get") is None:
        return "this machine has no apt-get"
    return (
        "" if os.geteuid() == 0 else "only root may; run `sudo make programs` once, or go without"
    )


def _install(debian: Sequence[Program], locked: Sequence[Locked]) -> None:
    if debian:
        names = " ".join(one.packages[0] for one in debian)
        print(f"Installing with apt-get, on this machine (INSTALL=0 leaves them out): {names}")
    if locked:
        print(
            f"Installing into this checkout, by lock files: {' '.join(one.name for one in locked)}"
        )
    sys.stdout.flush()
    began = time.monotonic()
    (ROOT / ".build").mkdir(exist_ok=True)
    with (ROOT / ".build/programs.lock").open("w") as lock, ThreadPoolExecutor(2) as threads:
        fcntl.flock(lock, fcntl.LOCK_EX)
        jobs = [threads.submit(_install_debian, debian)]
        jobs += [threads.submit(one.install) for one in locked]
        for job in jobs:
            job.result()
    done = [*_versions(debian), *(one.name for one in locked if one.find())]
    print(f"Installed in {time.monotonic() - began:.0f} s: {', '.join(done) or 'nothing'}")


def _install_debian(wanted: Sequence[Program]) -> None:
    """All in one call; one by one where that fails, since one package may hold up the others."""
    if not wanted:
        return
    _apt("update", seconds=60)
    known = _known([name for one in wanted for name in one.packages])
    chosen = [next((name for name in one.packages if name in known), None) for one in wanted]
    names = [name for name in chosen if name is not None]
    if names and not _apt("install", *names):
        for name in names:
            _apt("install", name, seconds=60)


def _apt(act: str, *names: str, seconds: int = _AT_MOST_S) -> bool:
    # In runlevel 1 Debian starts no service that it installs. Manuals are not unpacked: to make
    # their index takes longer than all the programs.
    return _ran(
        [
            *("timeout", str(seconds), "apt-get", "-qq", "-y", "--no-install-recommends"),
            *("-o", "DPkg::Lock::Timeout=180", "-o", "Acquire::Retries=1"),
            *("-o", "Acquire::http::Timeout=20", "-o", "Acquire::https::Timeout=20"),
            *("-o", "Dpkg::Options::=--path-exclude=/usr/share/man/*", act, *names),
        ],
        env={**os.environ, "RUNLEVEL": "1", "DEBIAN_FRONTEND": "noninteractive"},
        seconds=seconds + 30,
    )


def _known(names: Sequence[str]) -> set[str]:
    """Returns the packages of which the lists have a version."""
    said = _said("apt-cache", "show", "--no-all-versions", *names)
    return {line.split()[1] for line in said if line.startswith("Package: ")}


def _versions(wanted: Sequence[Program]) -> Iterator[str]:
    names = [name for one in wanted for name in one.packages]
    if names:
        shown = "${db:Status-Status} ${Package} ${Version}\n"
        for line in _said("dpkg-query", "-W", f"--showformat={shown}", *names):
            state, _, package = line.partition(" ")
            if state == "installed":
                yield package


def _found(file: str) -> str | None:
    if ".so" in file:
        with contextlib.suppress(OSError):
            ctypes.CDLL(file)
            return file
        return None
    if file.startswith("/"):
        return file if Path(file).is_file() else None
    return shutil.which(file, path=_PATH)


def _ran(
    words: Sequence[str],
    *,
    env: dict[str, str],
    cwd: Path = ROOT,
    seconds: int = _AT_MOST_S,
) -> bool:
    """Returns whether a command succeeded; else what it said last is printed."""
    try:
        done = subprocess.run(
            words, cwd=cwd, env=env, timeout=seconds, capture_output=True, text=True, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as failure:
        print(f"note: {failure}")
        return False
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip() or "it said nothing").splitlines()[-1]
        print(f"note: {' '.join(words)[:60]}… ended with {done.returncode}: {last}")
    return done.returncode == 0


def _said(*words: str) -> list[str]:
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout.splitlines()


if __name__ == "__main__":
    sys.exit(main())
