"""Every route has rows that name what each caller gets. One without a row fails.

The routes come from the application itself; test_people_matrix.py calls those with rows.
"""

import functools
import re

import httpx2
import pytest
from litestar.routes import HTTPRoute
from tests.security.people.people_rows import ROWS
from tests.support.members import new_member
from tests.support.process import running_service
from tests.support.service import Service

from mudra.demo.faults.handlers import handlers
from mudra.http.app import build_routes
from mudra.http.route_settings import RouteSettings
from mudra.http.server.given import Given
from mudra.settings.settings import Settings

OPEN_TO_ALL = {
    "/livez",
    "/readyz",
    "/iam/.well-known/jwks.json",
    "/iam/revocations",
    "/iam/protocol/openid-connect/certs",
    "/iam/.well-known/openid-configuration",
    "/.well-known/oauth-authorization-server/iam",
    "/iam/.well-known/oauth-authorization-server",
    "/schema",
    "/schema/openapi.json",
    "/schema/openapi.yaml",
    "/schema/openapi.yml",
    "/status/v1/fips.json",
    "/status/v1/fips.csv",
}
OPEN_WHERE_SET = {"/.well-known/security.txt"}
"""Not found without its setting: tests/http/server/test_security_txt.py."""
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
NETWORK_HEALTH = tuple(
    f"/operator/v1/{area}"
    for area in (
        *("health", "incidents", "announcements", "funnel", "comparison", "volume"),
        *("levels", "disputes", "timeline"),
    )
)
SANDBOX_ONLY = {
    "/sandbox/v1/clock",
    "/sandbox/v1/mails",
    # Who may switch which: tests/http/token/test_sandbox_faults.py.
    "/sandbox/v1/faults",
    "/sandbox/v1/faults/end",
    "/sandbox/v1/entities/{entity_id:str}/jwks.json",
}


@pytest.fixture(scope="module")
def client(service: Service) -> httpx2.Client:
    made = service.client()
    made.base_url = httpx2.URL(service.root)
    return made


@functools.cache
def routes() -> set[str]:
    """The paths that the application serves for members and operators."""
    litestar = build_routes(
        RouteSettings.of(Settings(sandbox=True)), Given(), of_sandbox=handlers
    ).litestar
    return {route.path for route in litestar.routes if isinstance(route, HTTPRoute)}


def test_every_route_has_a_row() -> None:
    rows = OPEN_TO_ALL | OPEN_WHERE_SET | CREDENTIALS_IN_THE_BODY | SANDBOX_ONLY
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
def test_no_one_reads_what_is_the_network_s_own(client: httpx2.Client, path: str) -> None:
    for headers in ({}, {"Authorization": "Bearer garbage"}):
        answer = client.get(path, headers=headers)

        assert answer.status_code in {401, 405}, answer.text
        if answer.status_code == 401:
            assert answer.json()["errorCode"] == "Unauthorized"


@pytest.mark.parametrize("path", sorted(OPEN_TO_ALL))
def test_what_is_open_needs_no_token_and_minds_none(client: httpx2.Client, path: str) -> None:
    for headers in ({}, {"Authorization": "Bearer garbage"}):
        answer = client.get(path, headers=headers)
        assert answer.status_code == 200


def test_an_entity_cannot_look_into_or_end_tokens_with_anothers_secret(service: Service) -> None:
    member, other = new_member(service), new_member(service, "AA")
    secret, client = member.secret(), member.client
    token = member.entity_token(secret).json()["accessToken"]

    for path in ("introspect", "revoke"):
        answer = client.post(
            f"/oauth2/{path}",
            data={"token": token, "client_id": member.entity_id, "client_secret": "x"},
        )
        assert answer.status_code == 401
    stranger = {"client_id": other.entity_id, "client_secret": other.secret()}
    assert client.post("/oauth2/revoke", data={"token": token, **stranger}).status_code == 400
    own = {"client_id": member.entity_id, "client_secret": secret}
    assert client.post("/oauth2/introspect", data={"token": token, **own}).json()["active"] is True


def test_the_sandbox_is_nowhere_else(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("plain") / "data"
    with running_service(folder, sandbox=False) as plain:
        client = plain.client()
        for path in (*SANDBOX_ONLY, "/"):
            assert client.post(plain.root + path, json={"advance": "PT1S"}).status_code == 404
            assert client.get(plain.root + path).status_code == 404
