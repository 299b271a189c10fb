"""The OpenAPI document in the hands of Python's tools: a validator, and a generated client.

Apart from our environment, which must not have these packages.
"""

import json
import os
import subprocess
import uuid
from pathlib import Path

import httpx2
import msgspec
import pytest
from tests.support.documents.openapi_documents import PUBLISHED, written_document
from tests.support.members import new_member
from tests.support.metrics.metrics_payloads import request_metrics
from tests.support.programs import needs
from tests.support.registry.registry_members import Registry, payload_of
from tests.support.service import Service
from tests.support.until import PATIENCE_S

from mudra.metrics.payload.catalogue import WINDOW, window_start

ENVIRONMENT = Path(__file__).parents[2] / ".build" / "openapi-clients-env"
CLIENT = Path(__file__).parent / "openapi" / "use_client.py"

pytestmark = needs("openapi-clients")


def tool(name: str, *arguments: object, stdin: bytes = b"") -> str:
    """Run a program of that environment; what it says is in its output."""
    done = subprocess.run(
        [ENVIRONMENT / "bin" / name, *map(str, arguments)],
        input=stdin,
        env={**os.environ, "PATH": f"{ENVIRONMENT / 'bin'}:{os.environ['PATH']}"},
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )
    said = (done.stdout + done.stderr).decode()
    assert done.returncode == 0, said
    return said


@pytest.fixture(scope="module")
def document(own: Service, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("openapi") / "openapi.json"
    file.write_bytes(httpx2.get(f"{own.root}/schema/openapi.json").content)
    return file


@pytest.mark.slow  # Node's linter reads the sandbox's, which has all calls, with every change
@pytest.mark.parametrize("name", PUBLISHED)
def test_a_validator_finds_nothing(name: str, tmp_path: Path) -> None:
    assert "OK" in tool("openapi-spec-validator", written_document(name, tmp_path))


@pytest.mark.slow
def test_a_generated_client_gets_a_token_pushes_registers_and_reads(
    document: Path, own: Service
) -> None:
    place = document.with_name("mudra_client")
    said = tool(
        *("openapi-python-client", "generate", "--meta", "none"),
        *("--path", document, "--output-path", place),
    )
    aa = new_member(own, "AA")
    registry = Registry(aa)
    start = window_start(own.advance("PT0S")) - WINDOW
    push = request_metrics(fips=2, aa_id=aa.entity_id, txn_id=str(uuid.uuid4()), start=start)
    given = {"root": own.root, "entityId": aa.entity_id, "secret": registry.secret}
    sent = msgspec.json.encode({**given, "push": push, "entry": payload_of(aa)})

    used = tool("python", CLIENT, place.parent, stdin=sent)

    assert "Warning" not in said, "it read every operation"
    assert json.loads(used) == {
        "expiresIn": 86_400,
        "pushed": "accepted",
        "registered": "submitted",
        "read": [],
        "refused": "Unauthorized",
    }
