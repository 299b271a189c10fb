"""Wrong media types, sizes, methods, paths, callers: refused alike, and nothing changes."""

import socket
from datetime import datetime
from urllib.parse import urlsplit

import httpx2
import pytest
from tests.http.token_requests import (
    ALL,
    CANARY,
    CLOCK,
    ENTITY,
    FORMS,
    JSONS,
    READ,
    RESET,
    RETIRE,
    SET,
    USER,
    Speaker,
    fields_of,
)
from tests.support.audit.audit_count import audit_count
from tests.support.error_body import assert_error
from tests.support.mailbox import latest_link
from tests.support.members import new_member, onboard
from tests.support.service import Service
from tests.support.until import PATIENCE_S


@pytest.fixture(scope="module")
def admin(service: Service) -> Speaker:
    member = new_member(service)
    return Speaker(member, member.secret(), member.bearer())


@pytest.fixture(autouse=True, scope="module")
def nothing_changes(admin: Speaker):
    yield  # looks once: a look after each test would meet the limit of a user's calls
    answer = admin.member.read(admin.headers)
    assert answer.status_code == 200, answer.text
    assert (answer.json()["secret"], answer.json()["oldSecretValidity"]) == (admin.secret, 0)


@pytest.mark.parametrize(
    "media",
    [
        "text/plain",
        "multipart/form-data; boundary=x",
        "application/xml",
        "application/*",
        "nonsense",
        "application/json; charset=utf-16",
        "application/x-www-form-urlencoded; charset=iso-8859-1",
        "application/json, application/json",
    ],
)
@pytest.mark.parametrize("path", ALL)
def test_another_media_type_is_415(admin: Speaker, path: str, media: str) -> None:
    usual = "application/x-www-form-urlencoded" if path in FORMS else "application/json"

    answer = admin.send_raw(path, b"{}", media)

    assert_error(answer, 415, "UnsupportedMediaType", f"Content-Type must be {usual}")


@pytest.mark.parametrize("path", ALL)
def test_json_and_forms_are_not_taken_for_one_another(admin: Speaker, path: str) -> None:
    other = "application/json" if path in FORMS else "application/x-www-form-urlencoded"

    assert_error(admin.send_raw(path, b"{}", other), 415, "UnsupportedMediaType", "Content-Type")


@pytest.mark.parametrize("path", ALL)
def test_a_packed_body_is_415(admin: Speaker, path: str) -> None:
    usual = "application/x-www-form-urlencoded" if path in FORMS else "application/json"
    known = admin.headers if path in {READ, RESET, RETIRE} else {}

    answer = admin.post(
        path,
        content=b"\x1f\x8b",
        headers=known | {"Content-Type": usual, "Content-Encoding": "gzip"},
    )

    assert_error(answer, 415, "UnsupportedMediaType", "Content-Encoding")


@pytest.mark.parametrize("path", ALL)
def test_a_body_that_is_too_large_is_413_and_says_the_limit(admin: Speaker, path: str) -> None:
    limit = 8 * 1024 if path in FORMS else 16 * 1024

    announced = admin.send_raw(path, b"a" * (limit + 1))
    in_pieces = admin.post(
        path,
        content=iter([b"a" * limit, b"a"]),
        headers={
            "Content-Type": "application/x-www-form-urlencoded"
            if path in FORMS
            else "application/json"
        },
    )

    assert_error(announced, 413, "PayloadTooLarge", f"at most {limit} bytes")
    assert_error(in_pieces, 413, "PayloadTooLarge", f"at most {limit} bytes")


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE", "TRACE"])
@pytest.mark.parametrize("path", ALL)
def test_another_method_is_405_and_names_the_right_one(
    admin: Speaker, path: str, method: str
) -> None:
    where = f"{admin.member.service.root}{path}" if path == CLOCK else path

    answer = admin.member.client.request(method, where)

    assert_error(answer, 405, "InvalidRequest", "POST")
    assert answer.headers["allow"] == "OPTIONS, POST"


@pytest.mark.parametrize("path", ALL)
def test_head_and_options_are_answered_without_a_body(admin: Speaker, path: str) -> None:
    where = f"{admin.member.service.root}{path}" if path == CLOCK else path

    head, options = admin.member.client.head(where), admin.member.client.options(where)

    assert (head.status_code, head.content) == (405, b"")
    assert head.headers["allow"] == "OPTIONS, POST"
    assert (options.status_code, options.headers["allow"]) == (204, "OPTIONS, POST")


@pytest.mark.parametrize(
    "path",
    [
        "/livez",
        "/readyz",
        "/",
        "/schema/openapi.json",
        "/iam/.well-known/jwks.json",
        "/iam/protocol/openid-connect/certs",
        "/iam/static/mudra.css",
        "/iam/.well-known/openid-configuration",
    ],
)
def test_head_is_get_without_the_body(service: Service, path: str) -> None:
    client = service.client()

    get, head = client.get(service.root + path), client.head(service.root + path)

    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == get.headers["content-length"]


@pytest.mark.parametrize("path", ["/livez", "/", "/iam/.well-known/jwks.json", "/iam/activate/x"])
def test_what_can_only_be_read_says_so(service: Service, path: str) -> None:
    answer = service.client().post(service.root + path)

    assert_error(answer, 405, "InvalidRequest", "GET")
    assert answer.headers["allow"] == "GET, HEAD, OPTIONS"


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "PATCH", "TRACE"])
@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/iam",
        "/iam/v1",
        "/iam/v2/user/token/generate",
        "/iam/v1/user",
        "/v1/user/token/generate",
        "/iam/static/../../pyproject.toml",
        "/iam/static/nothing.css",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/metrics",
        "/schema/swagger",
        "/schema/redoc",
        "/IAM/V1/USER/TOKEN/GENERATE",
    ],
)
def test_an_unknown_path_is_404(service: Service, path: str, method: str) -> None:
    answer = service.client().request(method, service.root + path)

    if path.startswith("/iam/static/") and method != "GET":
        assert answer.status_code in {404, 405}
    else:
        assert_error(answer, 404, "NotFound", "path")


@pytest.mark.parametrize(
    "accept", ["text/html", "image/png", "application/xml;q=0.9, */*;q=0", "nonsense", ""]
)
@pytest.mark.parametrize("path", [*ALL, "/nothing"])
def test_whatever_is_accepted_the_answer_is_json(admin: Speaker, path: str, accept: str) -> None:
    answer = admin.post(path, content=b"", headers={"Accept": accept, "Content-Type": "text/plain"})

    if path == "/nothing":
        assert_error(answer, 404, "NotFound")
    else:
        assert_error(answer, 415, "UnsupportedMediaType")


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("txnId", 7),
        ("txnId", {}),
        ("txnId", "a" * 129),
        ("txnId", "a\r\nX-Evil: 1"),
        ("txnId", "naïve"),
        ("txnId", " a"),
        ("ver", 1),
        ("ver", "1" * 17),
        ("timestamp", 1790000000),
        ("timestamp", "yesterday"),
        ("timestamp", "2026-01-31"),
        ("timestamp", "2026-02-30T00:00:00Z"),
        ("timestamp", "٢٠٢٦-01-31T00:00:00Z"),
    ],
)
@pytest.mark.parametrize("path", JSONS)
def test_envelope_members_that_cannot_be_read_are_named(
    admin: Speaker, path: str, member: str, value: object
) -> None:
    answer = admin.send(path, fields_of(path, admin, **{member: value}))

    assert_error(answer, 400, "InvalidRequest", f"{member} must be ")
    assert "x-evil" not in answer.headers


@pytest.mark.parametrize("path", [USER, ENTITY, SET])
def test_the_callers_transaction_id_comes_back_in_refusals(admin: Speaker, path: str) -> None:
    answer = admin.send(path, fields_of(path, admin, txnId="caller-42"))

    assert_error(answer, 401, "Unauthorized", txn_id="caller-42")


@pytest.mark.parametrize("path", [READ, RESET, RETIRE])
@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Bearer",
        "Basic YTpi",
        f"Bearer {CANARY}",
        CANARY,
        "Bearer a.b.c",
        "Bearer a b",
        "Bearer " + "a" * 5000,
        "Digest x",
        f"Token {CANARY}",
        "Bearer null",
        "Bearer é",
    ],
    ids=lambda header: repr(header)[:24],
)
def test_a_bad_authorization_is_401_and_is_not_repeated(
    admin: Speaker, path: str, header: str | None
) -> None:
    headers = {} if header is None else {"Authorization": header.encode("latin-1")}

    answer = admin.post(path, json=fields_of(path, admin), headers=headers)

    assert_error(answer, 401, "Unauthorized", "Authorization")
    assert answer.headers["www-authenticate"] == 'Bearer realm="mudra"'
    assert CANARY not in answer.text


def test_two_authorization_headers_are_refused(admin: Speaker) -> None:
    good = admin.headers["Authorization"]

    answers = [
        admin.member.client.post(
            READ,
            json=fields_of(READ, admin),
            headers=[("Authorization", one), ("Authorization", two)],
        )
        for one, two in ((good, "Bearer other"), ("Bearer other", good), (good, good))
    ]

    for answer in answers:
        assert_error(answer, 401, "Unauthorized", "Authorization")


def test_a_wrong_credential_is_401_not_400(admin: Speaker) -> None:
    entity = admin.send(ENTITY, {"id": admin.member.entity_id, "secret": CANARY})
    strange = admin.send(ENTITY, {"id": "no such ID, नमस्ते", "secret": CANARY})
    user = admin.send(USER, {"username": "not an address", "password": CANARY})
    link = admin.send(SET, {"token": CANARY, "password": "anything at all goes here"})

    for answer in (entity, strange, user, link):
        assert_error(answer, 401, "Unauthorized")
        assert CANARY not in answer.text


@pytest.mark.parametrize(
    ("password", "says"),
    [
        ("short", "15"),
        ("a" * 257, "256"),
        ("passwordpassword", ""),
        ("aaaaaaaaaaaaaaaaaaaa", ""),
    ],
)
def test_a_weak_password_is_refused_with_its_reason_and_the_link_stays_good(
    service: Service, password: str, says: str
) -> None:
    _, email = onboard(service)
    token = latest_link(service, email).rpartition("/")[2]
    client = service.client()

    refused = client.post(SET, json={"token": token, "password": password})
    accepted = client.post(SET, json={"token": token, "password": "granite otter velvet lamp"})

    assert_error(refused, 400, "InvalidRequest", says)
    assert "password" in refused.json()["errorMsg"]
    assert password not in refused.text
    assert accepted.status_code == 200


def test_the_clock_stays_where_it_is_when_a_move_is_refused(service: Service) -> None:
    client = service.client()
    before = client.post(f"{service.root}{CLOCK}", json={"advance": "PT0S"}).json()["now"]

    client.post(f"{service.root}{CLOCK}", json={"advance": "P9999W"})
    after = client.post(f"{service.root}{CLOCK}", json={"advance": "PT0S"}).json()["now"]

    assert before[:13] == after[:13]


def test_a_move_by_nothing_gives_the_time_and_records_nothing(service: Service) -> None:
    moves = ("audit", "list", "--event", "sandbox:clock:advance", "--json")
    before = service.cli(*moves).stdout

    answer = service.client().post(f"{service.root}{CLOCK}", json={"advance": "PT0S"})

    assert answer.status_code == 200
    assert datetime.fromisoformat(answer.json()["now"]).tzinfo is not None
    assert service.cli(*moves).stdout == before


@pytest.mark.parametrize(
    "line",
    [
        b"FOO /iam/v1/entity/token/generate HTTP/1.1\r\nHost: x\r\n\r\n",
        b"POST /iam/v1/entity/token/generate HTTP/1.1\r\n\r\n",
        b"POST /iam/v1/entity/token/generate HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na",
        b"POST /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"\x16\x03\x01\x00\xa5",
    ],
)
def test_what_is_no_http_gets_the_error_body_too(service: Service, line: bytes) -> None:
    answer = raw(service, line)

    assert_error(answer, 400, "InvalidRequest")


@pytest.mark.parametrize(
    "line",
    [
        b"CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n\r\n",
        b"OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        b"GET http://example.org/ HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n\r\n",
    ],
)
def test_proxy_requests_lead_nowhere(service: Service, line: bytes) -> None:
    answer = raw(service, line)

    assert answer.status_code in {200, 204, 400, 404, 405}
    assert b"Example Domain" not in answer.content


def raw(service: Service, request: bytes) -> httpx2.Response:
    """Send bytes as they are and read what comes until the end."""
    parts = urlsplit(service.root)
    with socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE_S) as connection:
        connection.sendall(request)
        heard = b""
        while piece := connection.recv(65536):
            heard += piece
    head, _, body = heard.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines)]
    return httpx2.Response(int(first.split(" ")[1]), headers=headers, content=body)


def test_a_request_that_is_wrong_leaves_no_audit_event_but_a_refused_caller_does(
    admin: Speaker,
) -> None:
    service = admin.member.service
    before = audit_count(service, with_address=True)

    for path in ALL:
        admin.send(path, {})
    after_wrong = audit_count(service, with_address=True)
    admin.send(USER, {"username": admin.member.email, "password": CANARY})

    assert after_wrong == before
    assert audit_count(service, with_address=True) > after_wrong
