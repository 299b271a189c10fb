"""A copy that is installed with one extra alone runs what it promises, and names what it has not."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final, NamedTuple

import pytest
from tests.docs.follow import follow
from tests.docs.left_out import is_left_out
from tests.docs.operators_guides import run_an_agent
from tests.support.depth import with_every_change
from tests.support.documents.blocks import ROOT, blocks_of, text_of
from tests.support.members import new_member
from tests.support.service import Service
from tests.support.until import PATIENCE_S

AGENT: Final = "docs/how-to/run-an-agent.md"
UV: Final = Path(sys.executable).with_name("uv")
NOT_INSTALLED: Final = 6
OF_MEMBERS: Final = {
    *("login", "logout", "password", "entity", "secret", "token", "session", "alarms", "sandbox"),
    *("registry", "conformance", "jwk", "config", "webhook", "report", "dispute", "timeline"),
    "maintenance",
}
"""The nouns that `[cli]` brings."""
OF_SERVICES: Final = {
    *("serve", "doctor", "restore", "board", "member", "migrate", "mail", "admin", "operator"),
    *("keys", "database", "backup", "audit", "health", "announcement", "metrics", "setup"),
}
EXTRAS: Final = {
    "": set[str](),
    "cli": OF_MEMBERS,
    "agent": {*OF_MEMBERS, "agent"},
    "server": OF_MEMBERS | OF_SERVICES,
}
"""What each installed copy has."""
BRINGS: Final = {
    **dict.fromkeys(OF_MEMBERS, "cli"),
    **dict.fromkeys(OF_SERVICES, "server"),
    "agent": "agent",
}
# One process for many commands: each would load Typer again. What it prints is read as JSON.
_RUN_ALL: Final = """
import contextlib, io, json, sys
from mudra.bootstrap.entry_point import run
done = []
for words, given in json.load(sys.stdin):
    sys.argv, sys.stdin = ["mudra", *words], io.TextIOWrapper(io.BytesIO(given.encode()))
    out, err, code = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            run()
        except SystemExit as end:
            code = end.code
    done.append([code or 0, out.getvalue(), err.getvalue()])
print(json.dumps(done))
"""


class Done(NamedTuple):
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str


class Copy(NamedTuple):
    """An environment in which the wheel is installed with one extra."""

    programs: Path

    def run(self, *commands: str, given: str = "", **settings: str) -> list[Done]:
        """Run commands one after the other; each gets `given` on its standard input."""
        words = [(command.split(), given) for command in commands]
        done = subprocess.run(
            [self.programs / "python", "-c", _RUN_ALL],
            input=json.dumps(words),
            env=_clean() | settings,
            cwd=self.programs,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return [Done(*one) for one in json.loads(done.stdout)]

    def program(self, *words: str) -> Done:
        """Run the program itself."""
        done = subprocess.run(
            [self.programs / "mudra", *words],
            env=_clean(),
            cwd=self.programs,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)


def _clean() -> dict[str, str]:
    """Nothing of this tree or its environment may help."""
    ours = ("MUDRA_", "PYTHON", "VIRTUAL_ENV", "PROMETHEUS_", "COLUMNS")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)}


class Copies(dict[str, Copy]):
    """The wheel in an environment for each extra that is asked for, with the locked versions."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        _shell(f"{UV} build --quiet --wheel --out-dir {folder}/dist")

    def __missing__(self, extra: str) -> Copy:
        home, option = self._folder / (extra or "base"), f"--extra {extra}" if extra else ""
        _shell(
            f"UV_PROJECT_ENVIRONMENT={home} {UV} sync --quiet --frozen --no-dev {option}"
            f" --no-install-project --link-mode symlink --python {sys.executable} && "
            f"{UV} pip install --quiet --no-deps --python {home} {self._folder}/dist/*.whl"
        )
        self[extra] = Copy(home / "bin")
        return self[extra]


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Copies:
    """The copies, made when they are asked for."""
    return Copies(tmp_path_factory.mktemp("copies"))


def _shell(script: str) -> None:
    """Run it with what `make setup` has fetched: a test downloads nothing."""
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=ROOT,
        env=_clean() | {"UV_OFFLINE": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if "network was disabled" in done.stderr:
        pytest.skip("uv's cache is empty: make clean setup fills it")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("extra", with_every_change(["", "cli"], EXTRAS))
def test_each_command_shows_its_help_or_says_what_to_install(
    copies: dict[str, Copy], extra: str
) -> None:
    done = copies[extra].run(*(f"{name} --help" for name in BRINGS))

    for name, (code, out, err) in zip(BRINGS, done, strict=True):
        if code == 0:
            assert f"Usage: mudra {name}" in out
        else:
            assert name not in EXTRAS[extra], err
            assert code == NOT_INSTALLED
            assert re.fullmatch(
                rf"mudra: mudra {name} needs the extra \[{BRINGS[name]}\], as there is no module "
                rf"\w+: pip install 'mudra-network\[{BRINGS[name]}\]'\n",
                err,
            )


@pytest.mark.parametrize("option", with_every_change(["--help"], ["--help", "-h"]))
@pytest.mark.parametrize("extra", with_every_change(["cli"], [one for one in EXTRAS if one]))
def test_the_list_of_commands_says_which_are_not_installed(
    copies: dict[str, Copy], extra: str, option: str
) -> None:
    code, out, err = copies[extra].program(option)

    first, *others = re.split(r"╭─ Not installed: mudra-network\[(\w+)\]", out)
    listed = {"": first.partition("─ Commands ─")[2]}
    listed |= dict(zip(others[::2], others[1::2], strict=True))
    found = {
        name: set(re.findall(r"^│ (\w+) ", text, re.MULTILINE)) for name, text in listed.items()
    }
    missing = {name for name in BRINGS if name not in EXTRAS[extra]}
    assert (code, err) == (0, "")
    assert found.pop("") == EXTRAS[extra]
    assert found == {
        wanted: {name for name in missing if BRINGS[name] == wanted}
        for wanted in {BRINGS[name] for name in missing}
    }


def test_the_client_library_alone_is_a_library_of_a_few_packages(copies: dict[str, Copy]) -> None:
    python = copies[""].programs / "python"
    imported = "from mudra.client import AsyncTokenVerifier, Directory, EntityTokenSource"
    assert subprocess.run([python, "-c", imported], env=_clean(), check=False).returncode == 0


@pytest.mark.parametrize("words", [[], ["--help"], ["--version"]])
def test_the_client_library_alone_says_what_the_command_needs(
    copies: dict[str, Copy], words: list[str]
) -> None:
    sentence = (
        "mudra: only the client library is installed; the command needs an extra: "
        "pip install 'mudra-network[cli]' for a member, 'mudra-network[agent]' for the agent, "
        "'mudra-network[server]' for a service\n"
    )
    assert copies[""].program(*words) == (NOT_INSTALLED, "", sentence)


def test_a_command_that_opens_the_store_says_what_it_needs(copies: dict[str, Copy]) -> None:
    done = copies["cli"].run("registry show KAVERI-FIP", "doctor", "serve --sandbox")

    for (code, out, err), command in zip(
        done, ("this command of mudra registry", "mudra doctor", "mudra serve"), strict=True
    ):
        assert (code, out) == (NOT_INSTALLED, "")
        assert err.startswith(f"mudra: {command} needs the extra [server], as there is no module ")
        assert err.endswith(": pip install 'mudra-network[server]'\n")
        assert err.count("\n") == 1


def test_a_service_alone_has_no_agents_for_the_demonstration(
    copies: dict[str, Copy], tmp_path: Path
) -> None:
    (done,) = copies["server"].run(f"serve --sandbox --demo --data-dir {tmp_path}")

    assert done == (
        NOT_INSTALLED,
        "",
        (
            "mudra: --demo runs agents and needs the extra [agent]: "
            "pip install 'mudra-network[agent]', or add --no-traffic\n"
        ),
    )
    assert list(tmp_path.iterdir()) == []


def test_a_member_works_with_the_command_alone(
    copies: dict[str, Copy], sandbox: Service, tmp_path: Path
) -> None:
    """All that speaks to a service, without Litestar, SQLAlchemy and PostgreSQL."""
    member = new_member(sandbox)
    here = {
        "MUDRA_BASE_URL": sandbox.issuer,
        "MUDRA_CONFIG_DIR": str(tmp_path),
        "MUDRA_PASSWORD": member.password,
    }
    commands = [
        f"login {member.email} --password-stdin",
        f"secret read {member.entity_id} --json",
        f"secret reset {member.entity_id} --keep-old-days 1",
        f"token entity {member.entity_id}",
        "token list",
        f"entity attention {member.entity_id}",
        f"entity admins {member.entity_id}",
        "session list",
        "alarms show",
        f"registry binding {member.entity_id}",
        f"sandbox fault list {member.entity_id}",
        f"password forgot {member.email}",
        "conformance list",
        "jwk new",
    ]
    done = copies["cli"].run(*commands, given=f"{member.password}\n", **here)
    token = done[commands.index(f"token entity {member.entity_id}")].out
    done += copies["cli"].run("token inspect", "token verify", given=token, **here)
    packages = {path.name for path in copies["cli"].programs.parent.glob("lib/*/site-packages/*")}

    assert [one for one in zip(commands, done, strict=False) if one[1].code != 0] == []
    assert [one.err for one in done if one.code != 0] == []
    assert not packages & {"litestar", "sqlalchemy", "psycopg", "numpy", "uvicorn"}


@pytest.mark.slow
def test_the_page_of_the_agent_runs_in_the_copy_that_it_names(
    copies: dict[str, Copy], sandbox: Service, tmp_path: Path
) -> None:
    named = re.findall(r"\]\(install\.md\) with `--extra (\w+)`", text_of(AGENT))
    assert len(named) == 1
    blocks = [block for block in blocks_of(AGENT) if not is_left_out(block)]

    with run_an_agent(sandbox, tmp_path) as fill:
        follow(blocks, sandbox, tmp_path, fill, strict=True, programs=copies[named[0]].programs)
