"""The client library's middleware in the frameworks that members use, in an environment of theirs.

Apart from ours, which must not have these packages: Litestar loads Pydantic where it finds it.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest
from tests.support.members import Member, new_member
from tests.support.programs import program
from tests.support.service import Service
from tests.support.until import PATIENCE_S

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent / "frameworks"


@pytest.fixture(scope="module")
def python() -> Path:
    """Python of an environment with exactly the locked packages."""
    return Path(program("frameworks"))


@pytest.fixture(scope="module")
def caller(service: Service) -> Member:
    return new_member(service, "AA")


@pytest.fixture(scope="module")
def answers(caller: Member, python: Path) -> dict[str, list[tuple[int, str]]]:
    """What each framework's example answers: to the caller, to no one, and on a public path."""
    token = caller.entity_token(caller.secret()).json()["accessToken"]
    done = subprocess.run(
        [python, HERE / "examples.py", caller.service.issuer, str(caller.service.wall())],
        input=token,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, list[tuple[int, str]]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("framework", ["fastapi", "flask", "django"])
def test_a_framework_lets_members_in_and_no_one_else(
    caller: Member, answers: dict[str, list[tuple[int, str]]], framework: str
) -> None:
    allowed, refused, public = answers[framework]

    assert allowed == [200, caller.entity_id]
    assert refused[0] == 401
    assert json.loads(refused[1])["errorCode"] == "Unauthorized"
    assert public == [200, "well"]
