"""The OpenAPI document is true: what it says is what a real service does."""

import contextlib
import json
import re
import shutil
from collections.abc import Iterator
from typing import Any

import httpx2
import jsonschema_rs
import jwt
import msgspec
import pytest
from tests.conformance.fuzz_runs import ROOT, Runs
from tests.support.depth import DAY, with_every_change
from tests.support.mailbox import latest_link
from tests.support.members import Member, set_password
from tests.support.metrics.metrics_push import pushing_aa
from tests.support.people.operators import Operator, new_operator
from tests.support.service import Service
from tests.support.until import PATIENCE_S

from mudra.identity.operators.operator import Scope

EXAMPLES, MANY = 1, 30
"""Of each operation in each phase: the same ones each time, so more of them are for test-slow."""
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "answer_as_in_its_example",
    "missing_required_header",
    "ignored_auth",
    "unsupported_method",
    "allow_header_conformance",
    "use_after_free",
    "ensure_resource_availability",
    "positive_data_acceptance",
    "negative_data_rejection",
)
OPERATOR_PAGES = (
    "members|users|mails|audit|operators|registry|keys$|board|settings|health|incidents"
)
PARTS = {
    "member": ["--exclude-path-regex", "^/(cr|operator|metrics|status)/"],
    # A stream of events does not end by itself.
    "reporter": ["--include-path-regex", "^/(metrics|status)/(?!.*/feed/events)"],
    "entity": ["--include-path-regex", "^/cr/"],
    # All but the rotation of keys: it would drop the key that the caller's token is signed with.
    "operator": ["--include-path-regex", f"^/(cr|operator/v1/({OPERATOR_PAGES}))"],
}
"""Which paths each caller fuzzes."""
FEW = (
    ("entity", "examples,fuzzing", EXAMPLES),
    ("reporter", "examples,fuzzing", EXAMPLES),
    ("member", "examples", EXAMPLES),
    ("operator", "examples", EXAMPLES),
)
"""Callers, phases and examples; with every change those of the first, and of another each day."""
STILL_READS = {"entity": "/cr/v2/changes", "reporter": "/metrics/perf/v1/receipts"}
OPERATIONS = {
    "/iam/v1/user/token/generate",
    "/iam/v1/entity/token/generate",
    "/iam/v1/entity/secret/read",
    "/iam/v1/entity/secret/reset",
    "/iam/v1/entity/secret/retire",
    "/iam/v1/user/password/set",
    "/iam/v1/user/password/forgot",
    "/sandbox/v1/clock",
}


@pytest.fixture(scope="module")
def fuzzed(own: Service) -> Member:
    """The member of the document's own examples, so that they succeed."""
    entity_id, email, password = "KAVERI-FIP", "lakshmi@kaveribank.example", "try-me-in-the-sandbox"
    own.cli(
        "member", "onboard", entity_id, "--type", "FIP", "--name", "Kaveri Bank", "--admin", email
    )
    client = own.client()
    assert set_password(client, latest_link(own, email), password).status_code == 200
    return Member(own, entity_id, email, password, client)


@pytest.fixture(scope="module")
def runs() -> Iterator[Runs]:
    with contextlib.closing(Runs()) as found:
        yield found


@pytest.fixture(scope="module")
def document(own: Service) -> dict[str, Any]:
    found: dict[str, Any] = httpx2.get(f"{own.root}/schema/openapi.json").json()
    return found


@pytest.fixture(scope="module")
def callers(own: Service, fuzzed: Member) -> dict[str, str]:
    """Who calls which part of the service: an admin, the entity, an operator with every scope."""
    operator = new_operator(own, *(scope.value for scope in Scope))
    entity = fuzzed.entity_token(fuzzed.secret()).json()["accessToken"]
    return {"member": fuzzed.user_token(), "entity": entity, "operator": bearer_of(operator)}


def bearer_of(operator: Operator) -> str:
    return operator.headers["Authorization"].removeprefix("Bearer ")


def claims_of(token: str) -> dict[str, Any]:
    return jwt.decode(token, options={"verify_signature": False})


@pytest.mark.parametrize(
    ("caller", "phases", "examples"),
    [
        *with_every_change([FEW[0], FEW[1 + DAY % len(FEW[1:])]], FEW),
        pytest.param("member", "coverage,fuzzing", MANY, marks=pytest.mark.slow),
        pytest.param("reporter", "coverage,fuzzing", MANY, marks=pytest.mark.slow),
        pytest.param("entity", "coverage,fuzzing", MANY, marks=pytest.mark.slow),
        pytest.param("operator", "coverage,fuzzing", MANY, marks=pytest.mark.slow),
    ],
)
def test_whatever_is_sent_the_answer_is_as_described(
    own: Service, runs: Runs, callers: dict[str, str], caller: str, phases: str, examples: int
) -> None:
    """I5, I6: every operation, by whom it is for; valid requests and invalid ones."""
    # An AA of its own: what operators were fuzzed with may have suspended an earlier one.
    token = pushing_aa(own).token if caller == "reporter" else callers[caller]
    command = [
        "run",
        f"{own.root}/schema/openapi.json",
        "--checks",
        ",".join(CHECKS),
        "--mode",
        "all",
        "--max-examples",
        str(examples),
        "--phases",
        phases,
        "--generation-deterministic",
        "--generation-allow-x00",
        "false",
        "--continue-on-failure",
        "--no-color",
        "--suppress-health-check=filter_too_much",  # a GET with one text has few invalid forms
        f"--request-timeout={PATIENCE_S}",  # a loaded machine is slow, and no fault is
        *PARTS[caller],
        "--header",
        f"Authorization: Bearer {token}",
    ]
    claims = claims_of(token)
    spared = [claims_of(one)[name] for one in {token, *callers.values()} for name in ("sub", "jti")]
    hooks = {
        "SCHEMATHESIS_HOOKS": "tests.conformance.fuzz_hooks",
        "FUZZ_SPARED": ",".join({*spared, "KAVERI-FIP"}),
        "FUZZ_AA": claims["sub"] if caller == "reporter" else "",
        "FUZZ_ENTITY": "" if caller == "operator" else "KAVERI-FIP",
    }

    code, said = runs.run(command, hooks, 400)

    shutil.rmtree(ROOT / ".schemathesis", ignore_errors=True)
    assert code == 0, said[-8000:]
    used = httpx2.get(
        own.root + STILL_READS.get(caller, "/iam/v1/user/token/list"),
        headers={"Authorization": f"Bearer {token}"},
    )
    assert used.status_code == 200, f"the token of {claims['sub']} did not last"


def test_the_document_is_openapi_3_1_and_names_every_operation(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1.")
    assert document["info"]["version"] == "2.1.0"  # spec 9.1
    assert set(document["paths"]) >= OPERATIONS


def test_operations_are_named_once_and_readably(document: dict[str, Any]) -> None:
    names = [o["operationId"] for path in document["paths"].values() for o in path.values()]

    assert len(set(names)) == len(names)
    assert "generateUserAccessToken" in names
    assert "generateEntityAccessToken" in names


def test_every_schema_is_valid_and_holds_its_own_examples(document: dict[str, Any]) -> None:
    checked = 0
    for schema in document["components"]["schemas"].values():
        jsonschema_rs.meta.validate(
            {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
        )
        for member in schema.get("properties", {}).values():
            # Components are many: they are there for who refers to one.
            refers = "$ref" in json.dumps(member)
            whole = {**member, "components": document["components"]} if refers else member
            for example in member.get("examples", []):
                jsonschema_rs.validate(whole, example)
                checked += 1

    assert checked > 100


def test_it_is_the_same_as_yaml(own: Service, document: dict[str, Any]) -> None:
    as_yaml = httpx2.get(f"{own.root}/schema/openapi.yml").content

    assert msgspec.yaml.decode(as_yaml) == document


def without_examples(node: Any) -> Any:
    if isinstance(node, list):
        return [without_examples(part) for part in node]
    if not isinstance(node, dict):
        return node
    return {k: without_examples(v) for k, v in node.items() if k not in {"example", "examples"}}


def test_every_schema_has_one_name_and_every_name_is_used(document: dict[str, Any]) -> None:
    """For who generates a client: a class for each shape, not one for each place of it."""
    components, text = document["components"], json.dumps(document)

    for kind in ("schemas", "responses"):
        for name in components[kind]:
            assert re.fullmatch(r"[A-Za-z0-9._-]+", name)
            assert f'"#/components/{kind}/{name}"' in text
    assert '"title"' not in json.dumps(without_examples(document["paths"]))
    shapes = json.dumps(without_examples(document))
    assert len(shapes) < 3_800 * sum(len(methods) for methods in document["paths"].values())


def test_every_answer_says_which_headers_it_has(document: dict[str, Any]) -> None:
    for path in OPERATIONS:
        responses = {
            status: resolved(document, response)
            for status, response in document["paths"][path]["post"]["responses"].items()
        }

        assert {"400", "405", "413", "415", "429", "500", "503"} <= set(responses)
        assert "Retry-After" in responses["429"]["headers"]
        assert "WWW-Authenticate" in responses["401"]["headers"]
        assert all("X-Request-Id" in response["headers"] for response in responses.values())


def test_only_secret_calls_ask_for_a_token(document: dict[str, Any]) -> None:
    asking = {path for path in OPERATIONS if document["paths"][path]["post"].get("security")}

    assert asking == {path for path in OPERATIONS if "/entity/secret/" in path}


def resolved(document: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    """What a reference leads to."""
    if "$ref" not in node:
        return node
    found = document
    for part in node["$ref"].removeprefix("#/").split("/"):
        found = found[part]
    return found
