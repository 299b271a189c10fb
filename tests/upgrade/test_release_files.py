"""The wheel and the source distribution install into an empty environment, and run there."""

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import httpx2
import pytest
from tests.support.documents.blocks import blocks_of
from tests.support.until import PATIENCE_S

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
_LISTENS = re.compile(r"  listens +(\S+:\d+)$", re.MULTILINE)
_UV = str(Path(sys.executable).with_name("uv"))
# Nothing of this tree or its environment may help.
_EMPTY = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith(("MUDRA_", "PYTHON", "VIRTUAL_ENV", "PROMETHEUS_"))
}


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command to its end; gives what it printed."""
    done = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env=_EMPTY,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both files, built as for a release: the wheel from the source distribution."""
    folder = tmp_path_factory.mktemp("dist")
    run(_UV, "build", "--quiet", "--out-dir", folder, ROOT, cwd=folder)
    return folder


@pytest.fixture(params=["*.whl", "*.tar.gz"])
def environment(built: Path, tmp_path: Path, request: pytest.FixtureRequest) -> tuple[Path, Path]:
    """Install one of them with the server's extra; gives the programs and a folder to work in."""
    (file,) = built.glob(request.param)
    home = tmp_path / "env"
    run(_UV, "venv", "--quiet", "--python", sys.executable, home, cwd=tmp_path)
    python = home / "bin" / "python"
    wanted = f"mudra-network[server] @ {file.as_uri()}"
    run(_UV, "pip", "install", "--quiet", "--python", python, wanted, cwd=tmp_path)
    return home / "bin", tmp_path


def test_it_installs_and_serves(environment: tuple[Path, Path]) -> None:
    programs, home = environment
    mudra = programs / "mudra"

    assert re.search(r"\d+\.\d+\.\d+", run(mudra, "--version", cwd=home))
    origin = run(programs / "python", "-c", "import mudra; print(mudra.__file__)", cwd=home)
    assert Path(origin.strip()).is_relative_to(home)
    command = [str(mudra), "serve", "--sandbox", "--port", "0", "--data-dir", str(home / "data")]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, cwd=home, env=_EMPTY
    ) as process:
        try:
            assert process.stdout is not None
            lines = iter(process.stdout.readline, "")
            found = next(hit for line in lines if (hit := _LISTENS.search(line)))
            with httpx2.Client(base_url=f"http://{found[1]}") as client:
                assert client.get("/readyz").status_code == 200
                assert client.get("/iam/protocol/openid-connect/certs").json()["keys"]
                page = client.get("/console/sign-in")
                assert page.status_code == 200
                for address in re.findall(r'(?:src|href)="(/console/static/[^"]+)"', page.text):
                    assert client.get(address).status_code == 200, address
            doctor = run(mudra, "doctor", "--data-dir", home / "data", cwd=home)
            assert "every entity has one current secret" in doctor
        finally:
            process.terminate()
            process.wait(PATIENCE_S)
    assert process.returncode == 0


def test_it_is_installed_and_upgraded_by_the_page(tmp_path: Path) -> None:
    """Its commands, with a folder in place of /opt; what the machine's root does is left out."""
    page = [one.body for one in blocks_of("docs/operations/running.md") if one.kind == "sh"]
    build, install = page[:2]
    (upgrade,) = [one for one in page if one.startswith("ln -sfn")]
    assets, check, *builds = build.splitlines()
    system, *steps = install.splitlines()
    version = steps[0].rpartition("-")[2]
    assert (assets, check.count("test -f")) == ("make assets site", 2)
    assert system.startswith("apt-get install")
    opt, dist = tmp_path / "opt", tmp_path / "dist"
    opt.mkdir()

    for line in builds:
        words = line.replace(".venv/bin/uv", _UV).replace(" dist", f" {dist}")
        run("bash", "-ec", words, cwd=ROOT)
    for line in steps:
        words = line.replace("python3.11", sys.executable).replace("/opt", str(opt))
        run("bash", "-ec", words, cwd=dist)
    program = opt / "mudra" / "bin" / "mudra"
    assert version in run(program, "--version", cwd=tmp_path)
    first = program.read_text().partition("\n")[0]

    # The release after it: the link leads there, and what runs is not touched.
    link, restart = upgrade.splitlines()
    following = link.split()[2]
    again = steps[0].replace("python3.11", sys.executable).replace("/opt", str(opt))
    run("bash", "-ec", again.replace(f"mudra-{version}", following), cwd=dist)
    run("bash", "-ec", link.replace("/opt", str(opt)), cwd=dist)
    assert (opt / "mudra").resolve() == opt / following
    assert first.startswith(f"#!{opt / f'mudra-{version}'}/bin/python")
    assert restart == "systemctl restart mudra"


def test_a_member_installs_by_the_page_and_adds_an_extra(tmp_path: Path) -> None:
    """Its commands, with a folder in place of /opt; then what the program says when asked for more."""
    build, install = (one.body for one in blocks_of("docs/how-to/install.md") if one.kind == "sh")
    opt, dist = tmp_path / "opt", tmp_path / "dist"
    opt.mkdir()
    for line in build.splitlines()[1:]:
        words = line.replace(".venv/bin/uv", _UV).replace(" dist", f" {dist}")
        run("bash", "-ec", words, cwd=ROOT)
    for line in install.splitlines():
        words = line.replace("python3.11", sys.executable).replace("/opt", str(opt))
        run("bash", "-ec", words, cwd=dist)
    program = opt / "mudra" / "bin" / "mudra"
    assert "Usage: mudra secret" in run(program, "secret", "--help", cwd=tmp_path)

    refused = subprocess.run([program, "agent"], capture_output=True, text=True, check=False)
    remedy = refused.stderr.rpartition(": ")[2].strip()
    assert remedy.startswith("pip install ")
    run("bash", "-ec", f"{program.parent}/{remedy}", cwd=tmp_path)

    assert "Usage: mudra agent" in run(program, "agent", "--help", cwd=tmp_path)


def test_the_files_hold_what_they_should_and_nothing_private(built: Path) -> None:
    (wheel,), (source,) = built.glob("*.whl"), built.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as file:
        installed = file.namelist()
    with tarfile.open(source) as archive:
        sources = [name.partition("/")[2] for name in archive.getnames()]

    for needed in (
        "mudra/storage/database/migrations/baseline.sql",
        "mudra/mail/templates/invitation.txt.j2",
        "mudra/console/templates/operator_audit.html",
        "mudra/py.typed",
    ):
        assert needed in installed, needed
    assert not [name for name in installed if not name.startswith(("mudra/", "mudra_network-"))]
    private = ("node_modules", "mudra/console/assets/")
    assert not [name for name in installed if any(one in name for one in private)]
    assert {"README.md", "LICENSE", "CHANGELOG.md", "pyproject.toml"} <= set(sources)
    assert not [name for name in sources if name.startswith((".venv", "var/", ".build"))]
    assert not [name for name in sources if "node_modules" in name]
