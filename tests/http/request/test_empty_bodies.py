"""A call of whose body no field is needed takes no body at all, and no call takes half of one."""

import httpx2
import pytest
from tests.support.error_body import assert_error
from tests.support.people.operators import Operator, new_operator
from tests.support.service import Service

NO_TYPE: dict[str, str] = {}
JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
NONE_NEEDED = "/operator/v1/audit/verify"
SOME_NEEDED = "/operator/v1/operators"
ENTRY = "/cr/v2/lint/FIP"
PUSH = "/metrics/perf/v1/push"


@pytest.fixture(scope="module")
def auditor(service: Service) -> Operator:
    return new_operator(service, "audit", "members")


def _sent(auditor: Operator, path: str, headers: dict[str, str], body: bytes) -> httpx2.Response:
    known = auditor.headers | headers
    return auditor.client.post(f"{auditor.root}{path}", content=body, headers=known)


@pytest.mark.parametrize("headers", [NO_TYPE, JSON], ids=["no type", "JSON"])
def test_no_body_is_an_object_without_fields(auditor: Operator, headers: dict[str, str]) -> None:
    answer = _sent(auditor, NONE_NEEDED, headers, b"")

    assert answer.status_code == 200, answer.text
    assert "rows" in answer.json()


@pytest.mark.parametrize(
    ("headers", "body", "status", "code"),
    [
        (JSON, b" ", 400, "InvalidRequest"),
        (JSON, b"{", 400, "InvalidRequest"),
        (JSON, b"[]", 400, "InvalidRequest"),
        (NO_TYPE, b"{}", 415, "UnsupportedMediaType"),
        (NO_TYPE, b" ", 415, "UnsupportedMediaType"),
        (FORM, b"", 415, "UnsupportedMediaType"),
        (NO_TYPE, b"{" * 20_000, 413, "PayloadTooLarge"),
    ],
)
def test_a_body_that_is_there_must_be_json(
    auditor: Operator, headers: dict[str, str], body: bytes, status: int, code: str
) -> None:
    assert_error(_sent(auditor, NONE_NEEDED, headers, body), status, code)


@pytest.mark.parametrize("path", [SOME_NEEDED, ENTRY, PUSH])
def test_a_call_that_needs_fields_needs_a_body(auditor: Operator, path: str) -> None:
    untyped, empty = _sent(auditor, path, NO_TYPE, b""), _sent(auditor, path, JSON, b"")

    assert untyped.status_code in {401, 415}  # a push asks for the token of an AA first
    assert empty.status_code in {400, 401}


def test_the_openapi_document_says_which_calls_need_a_body(service: Service) -> None:
    document = service.client().get(f"{service.root}/schema/openapi.json").json()

    needed = {
        path: document["paths"][path]["post"]["requestBody"]["required"]
        for path in (NONE_NEEDED, SOME_NEEDED, PUSH)
    }
    assert needed == {NONE_NEEDED: False, SOME_NEEDED: True, PUSH: True}
