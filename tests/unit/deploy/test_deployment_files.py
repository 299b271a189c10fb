"""Units of systemd, the image and the compose file are what the tools accept, with few rights."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from tests.support.documents.blocks import DOCUMENTS, blocks_of, text_of
from tests.support.programs import program
from tests.support.until import PATIENCE_S

from mudra.bootstrap.config import REFERENCE

MIN_WATCHDOG_S = 4

SYSTEMD = Path("deploy/systemd")
UNITS = (
    "mudra.service", "mudra-agent.service", "mudra-backup.service", "mudra-audit-verify.service"
)  # fmt: skip
EXPOSURE = {
    "mudra.service": 1.6,
    "mudra-agent.service": 2.0,
    "mudra-backup.service": 2.0,
    "mudra-audit-verify.service": 2.0,
}
"""At most so much of 10, by `systemd-analyze security`; a unit without any rule has 9.6."""
STOP_A_NODE = re.compile(
    r"\b[Ss]top\s+(?:every|all|the|this)\s+(?:nodes?\b|service\b(?!\.)|one\b)|\bstop\s+one\b"
)


@pytest.mark.parametrize("name", UNITS)
def test_systemd_takes_a_unit_and_finds_little_exposed(name: str, tmp_path: Path) -> None:
    analyze = program("systemd-analyze")
    unit = tmp_path / name
    unit.write_text((SYSTEMD / name).read_text().replace("/opt/mudra/bin/mudra", "/bin/true"))
    verified = subprocess.run(
        [analyze, "verify", unit], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    rated = subprocess.run(
        [analyze, "security", "--offline=true", "--no-pager", unit],
        capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    level = re.search(r"Overall exposure level for \S+: ([0-9.]+)", rated.stdout)

    assert (verified.returncode, verified.stderr) == (0, "")
    assert level is not None, rated.stdout + rated.stderr
    assert float(level[1]) <= EXPOSURE[name]


@pytest.mark.parametrize("name", ["mudra.service", "mudra-backup.service"])
def test_systemd_takes_a_directory_of_your_own(name: str, tmp_path: Path) -> None:
    """The lines of the page, as a drop-in: they add to the unit, and each unit names the way."""
    (lines,) = (
        block.body for block in blocks_of("docs/operations/running.md") if block.kind == "ini"
    )
    text = (SYSTEMD / name).read_text()
    (tmp_path / name).write_text(text.replace("/opt/mudra/bin/mudra", "/bin/true"))
    (tmp_path / f"{name}.d").mkdir()
    (tmp_path / f"{name}.d" / "override.conf").write_text(lines)
    verified = subprocess.run(
        [program("systemd-analyze"), "verify", tmp_path / name],
        capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip

    assert (verified.returncode, verified.stderr) == (0, "")
    assert lines.splitlines() == ["[Service]", "ReadWritePaths=/mnt/worm/mudra"]
    assert f"# {'It writes below' if name == 'mudra.service' else 'For a MUDRA_BACKUP_DIR'}" in text
    assert f"`systemctl edit {name.removesuffix('.service')}`" in text
    assert f"systemctl edit {name.removesuffix('.service')}`" in text_of(
        "docs/operations/running.md"
    )


def test_systemd_takes_the_socket_for_the_service(tmp_path: Path) -> None:
    service = (SYSTEMD / "mudra.service").read_text()
    (tmp_path / "mudra.service").write_text(service.replace("/opt/mudra/bin/mudra", "/bin/true"))
    text = (SYSTEMD / "mudra.socket").read_text()
    (line,) = [one for one in text.splitlines() if one.startswith("ListenStream=")]
    (tmp_path / "mudra.socket").write_text(text.replace(line, f"{line}\n{line}"))
    verified = subprocess.run(
        [program("systemd-analyze"), "verify", tmp_path / "mudra.socket"],
        capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip

    assert (verified.returncode, verified.stderr) == (0, "")
    assert line == "ListenStream=127.0.0.1:8080"
    assert "\nReusePort=yes\n" in text


def test_where_a_node_is_stopped_its_socket_is_stopped_too() -> None:
    """Each step that needs a stopped node has the command for both, or leads to the section of it."""
    steps = [
        (document, " ".join(step.split()))
        for document in DOCUMENTS
        if "/decisions/" not in document
        for step in re.split(r"\n(?=\n|\d\. |[-|*] )", text_of(document))
        if STOP_A_NODE.search(step)
    ]
    wrong = [
        (document, step)
        for document, step in steps
        if "systemctl stop mudra.socket mudra.service" not in step and "#stop-a-node" not in step
    ]

    assert wrong == []
    assert {
        "docs/how-to/back-up-and-restore.md",
        "docs/how-to/recover-to-a-time.md",
    } <= {document for document, _ in steps}


def test_systemctl_is_never_given_a_service_without_its_socket() -> None:
    """A start without the socket would listen on another address, and a stop would not last."""
    for document in DOCUMENTS:
        text = " ".join(text_of(document).split())
        for found in re.findall(r"systemctl (?:stop|start) ((?:[\w.-]+ ?)+)", text):
            units = found.split()
            assert "mudra.service" not in units or "mudra.socket" in units, (document, found)
    starts = [one for one in DOCUMENTS if "systemctl stop mudra.socket" in text_of(one)]
    for document in starts:
        assert "systemctl start mudra.socket mudra.service" in text_of(document), document


def test_systemd_waits_for_the_answer_and_looks_after_the_node() -> None:
    lines = (SYSTEMD / "mudra.service").read_text().splitlines()
    seconds = [int(one.split("=")[1]) for one in lines if one.startswith("WatchdogSec=")]

    assert "Type=notify" in lines
    assert seconds[0] >= MIN_WATCHDOG_S


def test_systemd_leaves_what_other_units_use_of_a_node() -> None:
    """Processes: tests/faults/test_of_systemd.py. And the shared memory of PostgreSQL."""
    for name in ("mudra.service", "mudra-backup.service"):
        lines = (SYSTEMD / name).read_text().splitlines()
        assert "KillMode=process" in lines
        assert "RemoveIPC=yes" not in lines


@pytest.mark.parametrize("name", ["mudra.service", "mudra-agent.service"])
def test_systemd_starts_what_keeps_times_once_the_clock_is_right(name: str) -> None:
    lines = (SYSTEMD / name).read_text().splitlines()

    assert "After=network-online.target time-sync.target" in lines
    assert "Wants=network-online.target time-sync.target" in lines


def test_systemd_takes_the_timer_of_the_backup() -> None:
    said = subprocess.run(
        [program("systemd-analyze"), "calendar", "*-*-* 00/6:30:00"],
        capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip

    assert said.returncode == 0
    assert "OnCalendar=*-*-* 00/6:30:00" in (SYSTEMD / "mudra-backup.timer").read_text()


@pytest.mark.parametrize("name", ["mudra.Containerfile", "agent.Containerfile"])
def test_an_image_is_pinned_rootless_and_looks_after_its_health(name: str) -> None:
    text = (Path("deploy") / name).read_text()

    assert re.findall(r"^FROM (\S+)", text, re.MULTILINE) == ["${PYTHON}"] * 2
    assert "@sha256:*" in text
    assert "--require-hashes -r tools/uv.txt" in text
    assert "uv sync --frozen" in text
    assert "--compile-bytecode" in text
    assert "\nARG VERSION\n" in text
    assert "MUDRA_BUILD_VERSION=${VERSION} \\\n" in text
    assert re.search(r"^USER \d{5}$", text, re.MULTILINE)
    assert "HEALTHCHECK" in text
    assert "podman build --format docker " in text, "podman's own format has no HEALTHCHECK"
    assert "\nENV UV_SYSTEM_CERTS=true\n" in text
    assert "/etc/ssl/certs/ca-certificates.crt" in text.rpartition("\nFROM ")[2]
    copied = copied_by(text)
    assert all(Path(one).exists() for one in copied), copied


def copied_by(text: str) -> set[str]:
    lines = re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE)
    return {one for line in lines for one in line.split()}


@pytest.mark.parametrize("name", ["mudra.Containerfile", "agent.Containerfile"])
def test_an_image_is_built_of_all_that_its_package_takes_and_of_nothing_else(name: str) -> None:
    """A wheel without one of the folders that it includes by force is not built at all."""
    build = tomllib.loads(Path("pyproject.toml").read_text())["tool"]["hatch"]["build"]
    forced = build["targets"]["wheel"]["force-include"]
    ignored = Path(".containerignore").read_text().splitlines()
    kept = {line[1:] for line in ignored if line.startswith("!")}
    copied = copied_by((Path("deploy") / name).read_text())

    assert set(forced) <= copied
    assert copied == kept
    assert next(line for line in ignored if not line.startswith(("#", "!"))) == "*"
    assert Path(".dockerignore").readlink() == Path(".containerignore")


@pytest.mark.parametrize(
    "document", [*DOCUMENTS, *map(str, Path("deploy").glob("*.Containerfile"))]
)
def test_a_documented_build_names_the_digest_of_its_python_and_its_version(document: str) -> None:
    """Without the first it ends at its first line, without the other no one knows what it is."""
    lines = re.sub(r"\\\n(?:#\s*|\s*)", " ", text_of(document)).splitlines()
    builds = [line for line in lines if re.search(r"(?:podman|docker) build.*Containerfile", line)]

    assert [line for line in builds if not re.search(r"--build-arg PYTHON=\S+@sha256:", line)] == []
    assert [line for line in builds if '--build-arg VERSION="$(.venv/bin/mudra' not in line] == []
    assert builds or document in DOCUMENTS


def test_an_image_of_the_service_has_what_the_documents_say(tmp_path: Path) -> None:
    """What git does not have is there, or the build says how to make it; traces are possible."""
    text = Path("deploy/mudra.Containerfile").read_text()
    (check,) = re.findall(r"^RUN (test -f (?:.*\\\n)*.*)$", text, re.MULTILINE)
    makefile = Path("Makefile").read_text()
    built = re.findall(r"^(?:BUILT|SITE) := (\S+)$", makefile, re.MULTILINE)
    missing = shell(check, tmp_path)
    for path in re.findall(r"test -f (\S+)", check):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).touch()
    there = shell(check, tmp_path)

    assert [str(Path(one).parent) for one in re.findall(r"test -f (\S+)", check)] == built
    assert "ASSETS_STAMP := $(BUILT)/charts.min.js.gz" in makefile
    assert (missing.returncode, there.returncode) == (1, 0)
    assert "run make assets site first" in missing.stderr
    assert "--extra server --extra tracing" in text
    for name in ("deploy/mudra.Containerfile", "deploy/compose/compose.yml"):
        assert "#   make assets site\n" in Path(name).read_text()


def shell(command: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["sh", "-c", command],
        cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip


def test_the_compose_file_has_no_secret_and_sets_only_settings_that_there_are() -> None:
    text = Path("deploy/compose/compose.yml").read_text()
    services = yaml.safe_load(text)["services"]
    known = {setting.env for setting in REFERENCE.values()}
    used = {
        name
        for service in services.values()
        for name in service.get("environment", {})
        if name.startswith("MUDRA_")
    }

    assert set(services) == {"database", "prepare", "mudra", "mail"}
    assert used - known == set()
    assert len(used) >= 7
    assert services["mudra"]["healthcheck"]["test"][-1].count("/readyz") == 1
    lasting = {name for name, one in services.items() if one.get("restart") == "unless-stopped"}
    assert lasting == {"database", "mudra", "mail"}
    assert "password@" not in text.lower().replace("${postgres_password}@", "")
    assert services["mudra"]["cap_drop"] == ["ALL"]
    assert services["mudra"]["read_only"] is True
    for service in services.values():  # nothing is reachable from other machines
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))
