"""The OpenAPI document in others' hands: a strict linter, and a generated client.

A client generated from it has a type of its own for each struct.
"""

import json
import os
import re
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import httpx2
import msgspec
import pytest
from tests.support.depth import with_every_change
from tests.support.documents.openapi_documents import PUBLISHED, written_document
from tests.support.members import new_member
from tests.support.metrics.metrics_payloads import request_metrics
from tests.support.programs import needs, program
from tests.support.registry.registry_members import Registry, payload_of
from tests.support.service import Service
from tests.support.until import PATIENCE_S

import mudra.http.app  # noqa: F401  # defines every response
from mudra.http.response.response_body import ErrorBody, FindingsErrorBody, Page, ResponseBody
from mudra.metrics.payload.catalogue import WINDOW, window_start

HERE = Path(__file__).parent / "node"
NODE = Path(sys.executable).with_name("node")
SPECTRAL = Path(__file__).parent / "spectral"
BASES = {Page, ErrorBody, FindingsErrorBody}

pytestmark = needs("node-packages")


def node(package: str, script: str, *arguments: object, place: Path = HERE) -> None:
    done = subprocess.run(
        [NODE, place / "node_modules" / package / script, *map(str, arguments)],
        cwd=place,
        env={**os.environ, "REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def document(own: Service, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("openapi") / "openapi.json"
    file.write_bytes(httpx2.get(f"{own.root}/schema/openapi.json").content)
    return file


@pytest.fixture(scope="module")
def client(document: Path) -> Path:
    file = document.with_name("client.d.ts")
    node("openapi-typescript", "bin/cli.js", document, "--output", file)
    return file


@pytest.mark.parametrize("name", with_every_change(["sandbox"], PUBLISHED))
def test_a_strict_linter_finds_nothing(name: str, tmp_path: Path) -> None:
    """All of Redocly's recommended rules, each as an error; ajv checks every example.

    The sandbox's document has all calls.
    """
    written = written_document(name, tmp_path)
    node("@redocly/cli", "bin/cli.js", "lint", written, "--extends=recommended-strict")


@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLISHED)
def test_another_linter_finds_nothing(name: str, tmp_path: Path) -> None:
    """All rules of Spectral for OpenAPI, with a failure for a hint too."""
    program("spectral")
    rules = ("--ruleset", SPECTRAL / "rules.yaml", "--fail-severity", "hint")
    written = written_document(name, tmp_path)
    node("@stoplight/spectral-cli", "dist/index.js", "lint", *rules, written, place=SPECTRAL)


def test_each_schema_becomes_one_type(document: Path, client: Path) -> None:
    schemas = json.loads(document.read_text())["components"]["schemas"]
    types = re.findall(r"^        (\w+): ", client.read_text(), re.MULTILINE)

    assert {name: types.count(name) for name in schemas} == dict.fromkeys(schemas, 1)


def test_each_response_struct_is_one_of_the_schemas(document: Path) -> None:
    schemas = json.loads(document.read_text())["components"]["schemas"]
    responses = [
        one
        for one in structs(ResponseBody)
        if one not in BASES and one.__module__.startswith("mudra.")
    ]

    assert [one.__name__ for one in responses if one.__name__ not in schemas] == []
    assert len(responses) > 40


def test_no_operation_reads_or_returns_a_nameless_object(document: Path) -> None:
    paths = json.dumps(json.loads(document.read_text())["paths"])

    assert '"properties"' not in paths


def test_every_pattern_is_one_of_ecma(document: Path, client: Path) -> None:
    patterns = set(re.findall(r'"pattern":\s*("(?:[^"\\]|\\.)*")', document.read_text()))
    script = document.with_name("patterns.js")
    script.write_text("".join(f"new RegExp({pattern}, 'u');\n" for pattern in sorted(patterns)))

    subprocess.run([NODE, script], check=True, timeout=PATIENCE_S)
    assert len(patterns) > 10
    assert not any(r"\\Z" in pattern for pattern in patterns)


def test_a_generated_client_gets_a_token_pushes_registers_and_reads(
    client: Path, own: Service
) -> None:
    """openapi-fetch with the generated types; compiled with all of TypeScript's strictness."""
    place = client.parent
    for name, content in (("package.json", '{"type": "module"}'), ("use_client.ts", None)):
        (place / name).write_text(content or (HERE / name).read_text())
    if not (place / "node_modules").exists():
        (place / "node_modules").symlink_to(HERE / "node_modules")
    options = ("--strict", "--module", "nodenext", "--target", "es2022", "--lib", "es2022,dom")
    node("typescript", "bin/tsc", *options, place / "use_client.ts")
    aa = new_member(own, "AA")
    registry = Registry(aa)
    start = window_start(own.advance("PT0S")) - WINDOW
    payload = request_metrics(fips=2, aa_id=aa.entity_id, txn_id=str(uuid.uuid4()), start=start)

    done = subprocess.run(
        [NODE, place / "use_client.js"],
        input=msgspec.json.encode(
            {
                "root": own.root,
                "entityId": aa.entity_id,
                "secret": registry.secret,
                "push": payload,
                "entry": payload_of(aa),
            }
        ),
        capture_output=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 0, done.stderr.decode()
    assert json.loads(done.stdout) == {
        "expiresIn": 86_400,
        "pushed": "accepted",
        "registered": "submitted",
        "read": [],
        "refused": "Unauthorized",
    }


def structs(base: type[ResponseBody]) -> Iterator[type[ResponseBody]]:
    for one in base.__subclasses__():
        yield one
        yield from structs(one)
