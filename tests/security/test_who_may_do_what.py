"""Every route by every caller on every object (quality X1). A route without a row fails.

The rows name what each caller gets; the routes come from the application itself.
"""

import re
from dataclasses import dataclass
from types import SimpleNamespace

import httpx
import pytest
from litestar.routes import HTTPRoute
from tests.support.people.people_rows import ROWS
from tests.support.service import (
    NO_TLS,
    PASSWORD,
    Member,
    Service,
    latest_link,
    new_member,
    running_service,
    set_password,
)

from mudra.bootstrap.config import Settings
from mudra.http.app import _litestar

CALLERS = (
    "nobody",
    "admin A",
    "reader A",
    "admin B",
    "entity A",
    "expired user",
    "revoked user",
    "garbage",
    "service key of none",
)
OBJECTS = ("A", "B", "missing")
SECRET_CALLS = (
    "/iam/v1/entity/secret/read",
    "/iam/v1/entity/secret/reset",
    "/iam/v1/entity/secret/retire",
)
ADMINS_OWN = {("admin A", "A"), ("admin B", "B")}

OPEN_TO_ALL = {
    "/livez",
    "/readyz",
    "/iam/.well-known/jwks.json",
    "/iam/revocations",
    "/iam/protocol/openid-connect/certs",
    "/iam/.well-known/openid-configuration",
    "/.well-known/oauth-authorization-server/iam",
    "/schema",
    "/schema/openapi.json",
    "/schema/openapi.yaml",
    "/schema/openapi.yml",
    "/status/v1/fips.json",
    "/status/v1/fips.csv",
}
CREDENTIALS_IN_THE_BODY = {
    "/iam/v1/user/token/generate",
    "/iam/v1/entity/token/generate",
    "/iam/v1/user/password/set",
    "/iam/v1/user/password/forgot",
    "/iam/v1/user/link/confirm",
    "/iam/v1/user/link/decline",
    "/iam/oauth2/token",
    "/iam/oauth2/introspect",
    "/iam/oauth2/revoke",
}
# With rows of their own in tests/security/test_people_matrix.py.
PEOPLE = {
    re.sub(r"\{.*?\}|0{8}-0{4}-4000-8000-0{12}", "{}", row.path).partition("?")[0] for row in ROWS
}
NETWORK_HEALTH = ("/operator/v1/health", "/operator/v1/incidents", "/operator/v1/announcements")
SANDBOX_ONLY = {
    "/sandbox/v1/clock",
    "/sandbox/v1/mails",
    # Who may switch which: tests/http/token/test_sandbox_faults.py.
    "/sandbox/v1/faults",
    "/sandbox/v1/faults/end",
    "/sandbox/v1/entities/{entity_id:str}/jwks.json",
}


def routes() -> set[str]:
    """The paths that the application serves for members and operators."""
    service = SimpleNamespace(
        settings=Settings(), time_machine=object(), clock=None, on_new_states=lambda _: None
    )
    litestar = _litestar(service, ())  # type: ignore[arg-type]  # only its route table is looked at
    return {route.path for route in litestar.routes if isinstance(route, HTTPRoute)}


def test_every_route_has_a_row() -> None:
    rows = OPEN_TO_ALL | CREDENTIALS_IN_THE_BODY | SANDBOX_ONLY | set(SECRET_CALLS)
    elsewhere = {
        path
        for path in routes()
        if path.startswith(("/cr/", "/metrics/", "/sla-inputs/", *NETWORK_HEALTH))
        or re.sub(r"\{.*?\}", "{}", path) in PEOPLE
    }

    assert routes() - rows - elsewhere == set()
    assert len(routes()) >= 15


@pytest.mark.parametrize(
    "path",
    sorted(
        path
        for path in routes()
        if path.startswith(("/cr/", "/metrics/", "/operator/"))
        and "{" not in path
        and not path.endswith("/push")
    ),
)
def test_no_one_reads_what_is_the_network_s_own(service: Service, path: str) -> None:
    for headers in ({}, {"Authorization": "Bearer garbage"}):
        answer = httpx.get(service.root + path, headers=headers, timeout=30, verify=NO_TLS)

        assert answer.status_code in {401, 405}, answer.text
        if answer.status_code == 401:
            assert answer.json()["errorCode"] == "Unauthorized"


def invited_reader(member: Member) -> Member:
    """A reader of the member, who accepted."""
    email = f"reader-{member.entity_id.lower()}@member.example"
    added = member.client.post(
        "/v1/entity/admin/add",
        json={"entityId": member.entity_id, "email": email, "role": "reader"},
        headers=member.bearer(),
    )
    assert added.status_code == 200, added.text
    client = member.service.client()
    assert set_password(client, latest_link(member.service, email)).status_code == 200
    return Member(member.service, member.entity_id, email, PASSWORD, client)


@dataclass(frozen=True)
class Cast:
    """Two members and the tokens that callers come with."""

    a: Member
    b: Member
    tokens: dict[str, str]

    def object_id(self, which: str) -> str:
        return {"A": self.a.entity_id, "B": self.b.entity_id}.get(which, "NO-SUCH-ENTITY")


@pytest.fixture(scope="module")
def cast(service: Service) -> Cast:
    a, b = new_member(service), new_member(service, "AA")
    expired, revoked = a.user_token(), a.user_token()
    service.advance("P180DT5M")  # not later: its key is published until its last token ends
    reader = invited_reader(a)
    fresh = {"admin A": a.user_token(), "admin B": b.user_token()} | {
        "reader A": reader.user_token()
    }
    a.reset({"Authorization": f"Bearer {fresh['admin A']}"})  # the first secrets have expired
    b.reset({"Authorization": f"Bearer {fresh['admin B']}"})
    gone = a.user_token()
    revoked = gone
    assert a.client.post("/oauth2/revoke", data={"token": gone}).status_code == 200
    entity = a.entity_token(a.secret()).json()["accessToken"]
    head, claims, signature = fresh["admin A"].split(".")
    service.advance("PT6M")
    return Cast(
        a,
        b,
        fresh
        | {
            "expired user": expired,
            "revoked user": revoked,
            "entity A": entity,
            "garbage": "garbage",
            "service key of none": f"{head}.{claims}.{signature[::-1]}",
        },
    )


@pytest.mark.parametrize("which", OBJECTS)
@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize("path", SECRET_CALLS)
def test_only_an_admin_of_that_very_entity_reaches_its_secret(
    cast: Cast, path: str, caller: str, which: str
) -> None:
    headers = {"Authorization": f"Bearer {cast.tokens[caller]}"} if caller in cast.tokens else {}

    answer = cast.a.client.post(
        f"{cast.a.service.root}{path}", json={"entityId": cast.object_id(which)}, headers=headers
    )

    if (caller, which) in ADMINS_OWN:
        assert answer.status_code in {200, 409, 429}, answer.text
        return
    assert answer.status_code == 401, answer.text
    assert answer.json()["errorCode"] == {
        "expired user": "TokenExpired",
        "revoked user": "TokenRevoked",
    }.get(caller, "Unauthorized")
    assert "secret" not in answer.json()


def test_anothers_entity_and_a_missing_one_are_answered_alike(cast: Cast) -> None:
    headers = {"Authorization": f"Bearer {cast.tokens['admin A']}"}
    answers = [
        cast.a.client.post(
            "/v1/entity/secret/read", json={"entityId": cast.object_id(which)}, headers=headers
        )
        for which in ("B", "missing")
    ]

    assert len({(a.status_code, a.json()["errorCode"], a.json()["errorMsg"]) for a in answers}) == 1


@pytest.mark.parametrize("path", sorted(OPEN_TO_ALL))
def test_what_is_open_needs_no_token_and_minds_none(cast: Cast, path: str) -> None:
    for headers in ({}, {"Authorization": "Bearer garbage"}):
        answer = httpx.get(f"{cast.a.service.root}{path}", headers=headers, timeout=30)
        assert answer.status_code == 200


def test_an_entity_cannot_look_into_or_end_tokens_with_anothers_secret(cast: Cast) -> None:
    token, client = cast.tokens["entity A"], cast.a.client

    for path in ("introspect", "revoke"):
        answer = client.post(
            f"/oauth2/{path}",
            data={"token": token, "client_id": cast.a.entity_id, "client_secret": "x"},
        )
        assert answer.status_code == 401
    stranger = {"client_id": cast.b.entity_id, "client_secret": cast.b.secret()}
    assert client.post("/oauth2/revoke", data={"token": token, **stranger}).status_code == 400
    own = {"client_id": cast.a.entity_id, "client_secret": cast.a.secret()}
    assert client.post("/oauth2/introspect", data={"token": token, **own}).json()["active"] is True


def test_the_sandbox_is_nowhere_else(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("plain") / "data"
    with running_service(folder, sandbox=False, from_nothing=True) as plain:
        for path in (*SANDBOX_ONLY, "/"):
            assert httpx.post(plain.root + path, json={"advance": "PT1S"}).status_code == 404
            assert httpx.get(plain.root + path).status_code == 404
