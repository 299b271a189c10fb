"""The samples that sign run as a reader copies them: a client's assertion, and proofs of a key."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from tests.docs.test_call_samples import COMMANDS
from tests.support.documents.blocks import Block, blocks_of
from tests.support.members import Member, new_member
from tests.support.programs import program
from tests.support.registry.registry_commands import payload, send
from tests.support.service import Service

PAGE: Final = "docs/reference/token-service.md"
ASSERTION: Final = "Get a token by a signed assertion"
PROOF: Final = "Get a token that is bound to a key, and use it"
SIGNED: Final = {
    "python": "time.time()",
    "js": "Date.now() / 1000",
    "java": "Instant.now().getEpochSecond()",
    "go": "time.Now().Unix()",
}
"""The present in each language: other tests have moved the clock of the sandbox."""


def signed_samples(kind: str) -> Iterator[Block]:
    wanted = (ASSERTION, PROOF)
    return (one for one in blocks_of(PAGE) if one.kind == kind and one.heading in wanted)


@pytest.fixture
def member(sandbox: Service, tmp_path: Path) -> Member:
    """A member whose live entry has the key in `signing-key.pem`."""
    made = new_member(sandbox, "FIP")
    key = str(tmp_path / "signing-key.pem")
    body = payload(made)
    body["entityinfo"]["certificate"] = json.loads(
        sandbox.cli("jwk", "new", "--private-key", key).stdout
    )
    send(made, body)
    sandbox.cli("registry", "approve", made.entity_id, "--version", "1")
    return made


@pytest.mark.parametrize(
    "kind",
    [
        "python",
        "js",
        pytest.param("java", marks=pytest.mark.slow),
        pytest.param("go", marks=pytest.mark.slow),
    ],
)
def test_a_sample_that_signs_gets_a_token(kind: str, member: Member, tmp_path: Path) -> None:
    if kind != "python":
        program({"js": "node-packages"}.get(kind, kind))
    service, present = member.service, SIGNED[kind]
    (tmp_path / "node_modules").symlink_to(
        Path(__file__).parents[1] / "conformance" / "node" / "node_modules"
    )
    printed = {}
    for sample in signed_samples(kind):
        assert present in sample.body
        file, command = COMMANDS[kind]
        (tmp_path / file).write_text(sample.body.replace(present, str(int(service.wall()))))
        done = subprocess.run(
            command or [sys.executable, file],
            cwd=tmp_path,
            env={
                "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
                "ROOT": service.root,
                "ENTITY_ID": member.entity_id,
                "ENTITY_SECRET": member.secret(),
                "GOCACHE": str(tmp_path.parent / "go-cache"),
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        printed[sample.heading] = done.stdout.splitlines()

    (plain,), (bound, answered) = printed[ASSERTION], printed[PROOF]
    assert json.loads(plain)["token_type"] == "Bearer"
    assert json.loads(bound)["token_type"] == "DPoP"
    assert answered == "answered 200"
