"""Bad input to the token service: each kind with its status, its sentence, and no effect.

decisions.md part 3: 400 when the request itself is wrong, 401 for anything about
credentials, 415 for another media type, 405 and 404 for another method or path.
"""

import socket
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httpx
import pytest
from tests.support.audit_count import audit_count
from tests.support.error_body import assert_error
from tests.support.service import Member, Service, latest_link, new_member, onboard

CANARY = "canary-5tgB6yhN7ujM"
USER = "/v1/user/token/generate"
ENTITY = "/v1/entity/token/generate"
READ = "/v1/entity/secret/read"
RESET = "/v1/entity/secret/reset"
RETIRE = "/v1/entity/secret/retire"
SET = "/v1/user/password/set"
FORGOT = "/v1/user/password/forgot"
CLOCK = "/sandbox/v1/clock"
FORMS = (USER, ENTITY)
JSONS = (READ, RESET, RETIRE, SET, FORGOT, CLOCK)
ALL = FORMS + JSONS

FIELDS = {
    USER: {"username": "someone@member.example", "password": CANARY},
    ENTITY: {"id": "KAVERI-FIP", "secret": CANARY},
    READ: {"entityId": "KAVERI-FIP"},
    RESET: {"entityId": "KAVERI-FIP", "secretExpiryDays": 180, "oldSecretValidity": 0},
    RETIRE: {"entityId": "KAVERI-FIP"},
    SET: {"token": CANARY, "password": CANARY},
    FORGOT: {"username": "someone@member.example"},
    CLOCK: {"advance": "PT1S"},
}
REQUIRED = [
    (path, name)
    for path, fields in FIELDS.items()
    for name in fields
    if name not in {"secretExpiryDays", "oldSecretValidity"}
]


@dataclass(frozen=True)
class Speaker:
    """A member whose secret must be the same before and after."""

    member: Member
    secret: str
    headers: dict[str, str] = field(repr=False)

    def post(self, path: str, **how: object) -> httpx.Response:
        where = f"{self.member.service.root}{path}" if path == CLOCK else path
        return self.member.client.post(where, **how)  # type: ignore[arg-type]

    def send(self, path: str, fields: dict[str, object], **headers: str) -> httpx.Response:
        """Send fields in the media type of the path, as an admin where one is asked for."""
        known = self.headers if path in {READ, RESET, RETIRE} else {}
        if path in FORMS:
            return self.post(path, data=fields, headers=headers)
        return self.post(path, json=fields, headers=known | headers)

    def send_raw(self, path: str, body: bytes, media: str | None = None) -> httpx.Response:
        usual = "application/x-www-form-urlencoded" if path in FORMS else "application/json"
        known = self.headers if path in {READ, RESET, RETIRE} else {}
        return self.post(path, content=body, headers=known | {"Content-Type": media or usual})


@pytest.fixture(scope="module")
def admin(service: Service) -> Speaker:
    member = new_member(service)
    return Speaker(member, member.secret(), member.bearer())


@pytest.fixture(autouse=True)
def nothing_changes(admin: Speaker):
    yield
    answer = admin.member.read(admin.headers)
    assert answer.json()["secret"] == admin.secret
    assert answer.json()["oldSecretValidity"] == 0


def fields_of(path: str, admin: Speaker, **changed: object) -> dict[str, object]:
    own = {"entityId": admin.member.entity_id} if "entityId" in FIELDS[path] else {}
    return {**FIELDS[path], **own, **changed}


@pytest.mark.parametrize(("path", "name"), REQUIRED)
def test_a_missing_field_is_named(admin: Speaker, path: str, name: str) -> None:
    fields = fields_of(path, admin)
    del fields[name]

    answer = admin.send(path, fields)

    assert_error(answer, 400, "InvalidRequest", f"{name} is missing")
    assert CANARY not in answer.text


@pytest.mark.parametrize(("path", "name"), REQUIRED)
def test_an_empty_field_is_named(admin: Speaker, path: str, name: str) -> None:
    answer = admin.send(path, fields_of(path, admin, **{name: ""}))

    assert_error(answer, 400, "InvalidRequest", f"{name} must be ")
    assert CANARY not in answer.text


@pytest.mark.parametrize(("path", "name"), REQUIRED)
def test_a_repeated_field_is_refused(admin: Speaker, path: str, name: str) -> None:
    if path in FORMS:
        body = f"{name}=a&{name}=a".encode()
    else:
        body = f'{{"{name}": "a", "{name}": "a"}}'.encode()

    assert_error(admin.send_raw(path, body), 400, "InvalidRequest", name)


@pytest.mark.parametrize("wrong", [None, True, 7, [], ["a"], {}], ids=str)
@pytest.mark.parametrize(("path", "name"), [row for row in REQUIRED if row[0] in JSONS])
def test_a_field_of_another_type_is_named(
    admin: Speaker, path: str, name: str, wrong: object
) -> None:
    answer = admin.send(path, fields_of(path, admin, **{name: wrong}))

    assert_error(answer, 400, "InvalidRequest", f"{name} must be ")
    assert CANARY not in answer.text


@pytest.mark.parametrize(
    ("path", "name", "wrong"),
    [
        (USER, "username", "a" * 255),
        (USER, "password", CANARY * 60),
        (ENTITY, "id", "a" * 65),
        (ENTITY, "secret", CANARY * 60),
        (READ, "entityId", "a" * 65),
        (READ, "entityId", "KAVERI FIP"),
        (READ, "entityId", "KAVERI\n"),
        (RESET, "entityId", "कावेरी"),
        (RETIRE, "entityId", "../../etc"),
        (SET, "token", CANARY * 60),
        (SET, "password", CANARY * 60),
        (FORGOT, "username", "a" * 255),
        (CLOCK, "advance", "6 minutes"),
        (CLOCK, "advance", "P"),
        (CLOCK, "advance", "PT"),
        (CLOCK, "advance", "P1M"),
        (CLOCK, "advance", "-PT6M"),
        (CLOCK, "advance", "PT1.5M"),
        (CLOCK, "advance", "PT٣M"),
        (CLOCK, "advance", "P4000D"),
    ],
)
def test_a_value_out_of_range_is_named_and_no_secret_repeated(
    admin: Speaker, path: str, name: str, wrong: str
) -> None:
    answer = admin.send(path, fields_of(path, admin, **{name: wrong}))

    assert_error(answer, 400, "InvalidRequest", f"{name} must be ")
    assert CANARY not in answer.text


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("secretExpiryDays", "a whole number from 1 to 180"),
        ("oldSecretValidity", "a whole number from 0 to 7"),
    ],
)
@pytest.mark.parametrize(
    "wrong",
    [
        -1,
        181,
        365,
        2**31,
        2**53 - 1,
        None,
        True,
        "30",
        "",
        [],
        [7],
        {},
        {"days": 7},
    ],
    ids=str,
)
def test_days_out_of_range_say_what_is_allowed(
    admin: Speaker, name: str, allowed: str, wrong: object
) -> None:
    answer = admin.send(RESET, fields_of(RESET, admin, **{name: wrong}))

    assert_error(answer, 400, "InvalidRequest", f"{name} must be {allowed}, not ")


def test_the_borders_of_the_days_are_where_they_are_said_to_be(admin: Speaker) -> None:
    zero = admin.send(RESET, fields_of(RESET, admin, secretExpiryDays=0))
    eight = admin.send(RESET, fields_of(RESET, admin, oldSecretValidity=8))

    assert_error(
        zero, 400, "InvalidRequest", "secretExpiryDays must be a whole number from 1 to 180, not 0"
    )
    assert_error(
        eight, 400, "InvalidRequest", "oldSecretValidity must be a whole number from 0 to 7, not 8"
    )


@pytest.mark.parametrize(
    "number",
    [
        "30.0",
        "1e2",
        "1.5",
        "NaN",
        "Infinity",
        "-0.0",
        "9007199254740993",
        "1" * 400,
        "0x1E",
        "030",
        "+30",
    ],
)
def test_numbers_that_are_no_whole_numbers_are_refused_with_their_place(
    admin: Speaker, number: str
) -> None:
    body = f'{{"entityId": "{admin.member.entity_id}", "secretExpiryDays": {number}}}'.encode()

    answer = admin.send_raw(RESET, body)

    assert_error(answer, 400, "InvalidRequest", "body")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"{",
        b"[]",
        b"null",
        b"7",
        b'"text"',
        b"{}x",
        b"{'entityId': 'A'}",
        b"\xef\xbb\xbf{}",
        b'{"entityId": "\xff"}',
        b'{"entityId": "A\x00"}',
        b'{"entityId": "A\\u0000"}',
        b'{"entityId": "\\ud800"}',
        b"[" * 5000,
        b'{"a":' * 40 + b"1" + b"}" * 40,
        b'{"entityId": "A",}',
        b"entityId=A",
        b"<entityId>A</entityId>",
        bytes(range(256)),
    ],
    ids=lambda body: repr(body[:24]),
)
@pytest.mark.parametrize("path", JSONS)
def test_an_unreadable_json_body_is_refused(admin: Speaker, path: str, body: bytes) -> None:
    assert_error(admin.send_raw(path, body), 400, "InvalidRequest", "body")


@pytest.mark.parametrize(
    ("body", "names"),
    [
        (b"username=%zz&password=x&id=%zz&secret=x", "%"),
        (b"username=%ff&password=x&id=%ff&secret=x", "UTF-8"),
        (b"username=a%00b&password=x&id=a%00b&secret=x", "NUL"),
        (b"&".join(b"a%d=1" % n for n in range(200)), "at most 100 fields"),
        (b'{"username": "a", "password": "b", "id": "a", "secret": "b"}', "missing"),
        (b"", "missing"),
        (b"username[]=a&password[]=b&id[]=a&secret[]=b", "missing"),
        (b"username=a;password=b;id=a;secret=b", "missing"),
    ],
    ids=lambda value: repr(value[:24]),
)
@pytest.mark.parametrize("path", FORMS)
def test_an_unreadable_form_is_refused(admin: Speaker, path: str, body: bytes, names: str) -> None:
    answer = admin.send_raw(path, body)

    assert_error(answer, 400, "InvalidRequest")
    assert names in answer.json()["errorMsg"] or "id" in answer.json()["errorMsg"]


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
    assert head.headers["content-length"] == str(len(get.content))


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


def raw(service: Service, request: bytes) -> httpx.Response:
    """Send bytes as they are and read what comes until the end."""
    parts = urlsplit(service.root)
    with socket.create_connection((parts.hostname, parts.port), timeout=5) as connection:
        connection.sendall(request)
        heard = b""
        while piece := connection.recv(65536):
            heard += piece
    head, _, body = heard.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines)]
    return httpx.Response(int(first.split(" ")[1]), headers=headers, content=body)


def test_a_request_that_is_wrong_leaves_no_audit_event_but_a_refused_caller_does(
    admin: Speaker,
) -> None:
    service = admin.member.service
    before = audit_count(service)

    for path in ALL:
        admin.send(path, {})
    after_wrong = audit_count(service)
    admin.send(USER, {"username": admin.member.email, "password": CANARY})

    assert after_wrong == before
    assert audit_count(service) > after_wrong
